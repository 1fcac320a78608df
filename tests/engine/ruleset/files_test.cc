// Small rule sets that must load, or fail with a certain message (tests/data/ruleset).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "engine/base/codes.h"
#include "engine/base/text.h"
#include "engine/ruleset/ruleset.h"

namespace rulerun {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const fs::path kSource = RULERUN_SOURCE_DIR;

std::string Text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<fs::path> Files(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// A manifest around one rule file, with ort130's vocabulary.
fs::path ManifestFor(const fs::path& file) {
  const fs::path folder = fs::path(testing::TempDir()) / "rulerun_files_test";
  fs::create_directories(folder);
  const fs::path manifest = folder / (file.stem().string() + ".manifest.yaml");
  std::ofstream out(manifest);
  const std::string rules = (kSource / "rules" / "ort130").string();
  out << "ruleset: test\n"
      << "platforms: {arm64: {int8_allowed: true}}\n"
      << "options: {loop: {key: session.loop, default: 1}}\n"
      << "ops:\n"
      << "  sets: {Q: [QuantizeLinear, com.microsoft.QuantizeLinear],\n"
      << "         DQ: [DequantizeLinear, com.microsoft.DequantizeLinear]}\n"
      << "  since: " << rules << "/since.yaml\n"
      << "  schemas: [" << rules << "/ops-com.microsoft.yaml, " << rules << "/ops-com.microsoft-quantized.yaml]\n"
      << "pipeline: [{rules: " << file.string() << "}]\n";
  return manifest;
}

Result<std::shared_ptr<const RuleSet>> Read(const fs::path& file) {
  const bool is_manifest = Text(file).find("\nruleset:") != std::string::npos || StartsWith(Text(file), "ruleset:");
  return ReadRuleSet((is_manifest ? file : ManifestFor(file)).string(), {(kSource / "rules").string()});
}

class PassFile : public testing::TestWithParam<fs::path> {};
class FailFile : public testing::TestWithParam<fs::path> {};

TEST_P(PassFile, Loads) {
  const auto rules = Read(GetParam());
  EXPECT_TRUE(rules.ok()) << ToString(rules.error());
}

TEST_P(FailFile, SaysWhereAndWhat) {
  const std::string text = Text(GetParam());
  const std::string mark = "# error[";
  const size_t code_end = text.find("]: ");
  ASSERT_TRUE(StartsWith(text, mark) && code_end < text.find('\n')) << GetParam() << " begins with '# error[CODE]: '";
  const std::string code = text.substr(mark.size(), code_end - mark.size());
  const std::string wanted = text.substr(code_end + 3, text.find('\n') - code_end - 3);
  const auto rules = Read(GetParam());
  ASSERT_FALSE(rules.ok()) << "wanted: " << wanted;
  EXPECT_EQ(rules.error().kind(), ErrorKind::kRules);
  const std::string message = ToString(rules.error());
  EXPECT_THAT(message, HasSubstr(wanted));
  EXPECT_EQ(Name(rules.error().code), code);
  // The place is one in this file.
  EXPECT_THAT(message, HasSubstr(GetParam().filename().string() + ":")) << message;
}

std::string NameOf(const testing::TestParamInfo<fs::path>& info) {
  std::string name = info.param.stem().string();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Ruleset, PassFile, testing::ValuesIn(Files(kSource / "tests/data/ruleset/pass")), NameOf);
INSTANTIATE_TEST_SUITE_P(Ruleset, FailFile, testing::ValuesIn(Files(kSource / "tests/data/ruleset/fail")), NameOf);

TEST(SeveralErrors, AreToldTogether) {
  const fs::path file = fs::path(testing::TempDir()) / "several.yaml";
  std::ofstream(file) << "rules:\n"
                         "  - rule: A\n"
                         "    match: y = Rleu(x)\n"
                         "    replace: y = x\n"
                         "  - rule: B\n"
                         "    match: y = Relu(x)\n"
                         "    replace: y = Abs(z)\n";
  const auto rules = Read(file);
  ASSERT_FALSE(rules.ok());
  const std::string message = ToString(rules.error());
  EXPECT_THAT(message, HasSubstr("several.yaml:3:16: there is no operator 'Rleu'"));
  EXPECT_THAT(message, HasSubstr("\n"));
  EXPECT_THAT(message, HasSubstr("several.yaml:7:22: the rule 'B' has no name 'z'"));
}

TEST(SeveralErrors, AreAllKept) {
  const fs::path file = fs::path(testing::TempDir()) / "many.yaml";
  {
    std::ofstream out(file);
    out << "rules:\n";
    for (int i = 0; i < 30; ++i) out << "  - {rule: R" << i << ", match: y = Rleu(x), replace: y = x}\n";
  }
  const auto rules = Read(file);
  ASSERT_FALSE(rules.ok());
  EXPECT_EQ(rules.error().more.size(), 29U);
}

}  // namespace
}  // namespace rulerun
