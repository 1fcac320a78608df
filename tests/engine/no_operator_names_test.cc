// The engine knows no operators: rules and tables name them, kernels register under them, engine/ spells none.
#include <gtest/gtest.h>
#include <onnx/defs/schema.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rulerun {
namespace {

namespace fs = std::filesystem;

// File and literal that are allowed all the same, each with its reason. Keep this empty.
constexpr std::array<std::pair<std::string_view, std::string_view>, 0> kExceptions{};

struct Literal {
  size_t line;
  std::string text;
};

// The string literals of C++ source, as written between the quotes; what comments hold is not code.
std::vector<Literal> StringLiterals(std::string_view code) {
  std::vector<Literal> literals;
  size_t i = 0;
  const auto starts = [&](std::string_view what) { return code.substr(i, what.size()) == what; };
  const auto skip_past = [&](std::string_view what, size_t from) {
    const size_t at = code.find(what, from);
    i = at == std::string_view::npos ? code.size() : at + what.size();
  };
  const auto is_word = [](char c) { return (std::isalnum(static_cast<unsigned char>(c)) != 0) || c == '_'; };
  while (i < code.size()) {
    const size_t begin = i;
    if (starts("//")) {
      skip_past("\n", i);
    } else if (starts("/*")) {
      skip_past("*/", i + 2);
    } else if (starts("R\"") && (i == 0 || !is_word(code[i - 1]))) {
      const size_t open = std::min(code.find('(', i), code.size());
      const std::string close = ")" + std::string(code.substr(i + 2, open - i - 2)) + "\"";
      skip_past(close, open);
      const size_t length = i - begin >= close.size() ? i - close.size() - std::min(open + 1, i - close.size()) : 0;
      const auto line = static_cast<size_t>(std::count(code.begin(), code.begin() + static_cast<long>(begin), '\n'));
      literals.push_back({line + 1, std::string(code.substr(std::min(open + 1, code.size()), length))});
    } else if (code[i] == '"' || (code[i] == '\'' && (i == 0 || !is_word(code[i - 1])))) {  // 1'000 is no character
      for (++i; i < code.size() && code[i] != code[begin] && code[i] != '\n'; ++i) {
        if (code[i] == '\\') ++i;
      }
      if (code[begin] == '"') {
        const auto line = static_cast<size_t>(std::count(code.begin(), code.begin() + static_cast<long>(begin), '\n'));
        const size_t end = std::min(i, code.size());
        literals.push_back({line + 1, std::string(code.substr(begin + 1, end - begin - 1))});
      }
      ++i;
    } else {
      ++i;
    }
  }
  return literals;
}

std::string Read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::set<std::string> OperatorNames() {
  std::set<std::string> names;
  for (const auto& schema : onnx::OpSchemaRegistry::get_all_schemas_with_history()) names.insert(schema.Name());
  // ONNX Runtime's own, wherever the rule sets write one out.
  const std::regex contrib(R"(com\.microsoft(?:\.nchwc)?\.([A-Z][A-Za-z0-9_]*)(?![A-Za-z0-9_$.]))");
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(RULERUN_SOURCE_DIR) / "rules")) {
    if (!entry.is_regular_file()) continue;
    const std::string text = Read(entry.path());
    for (std::sregex_iterator match(text.begin(), text.end(), contrib), end; match != end; ++match) {
      names.insert((*match)[1]);
    }
  }
  return names;
}

TEST(NoOperatorNames, ScannerSeesLiteralsAndNothingElse) {
  std::vector<std::string> found;
  for (const Literal& literal :
       StringLiterals("f(\"Conv\"); // \"Add\"\n/* \"Mul\" */ g('\"', 1'000, \"a\\\"b\", \"\");\n"
                      "h(R\"(Relu)\", R\"x(a)\"b)x\", \"Gemm\");")) {
    found.push_back(std::to_string(literal.line) + " " + literal.text);
  }
  EXPECT_EQ(found, (std::vector<std::string>{"1 Conv", "2 a\\\"b", "2 ", "3 Relu", "3 a)\"b", "3 Gemm"}));
}

TEST(NoOperatorNames, EngineSpellsNone) {
  const std::set<std::string> names = OperatorNames();
  ASSERT_TRUE(names.contains("Conv"));
  ASSERT_GT(names.size(), 200U);
  size_t files = 0;
  const fs::path root = RULERUN_SOURCE_DIR;
  for (const auto& entry : fs::recursive_directory_iterator(root / "engine")) {
    const std::string extension = entry.path().extension().string();
    if (extension != ".cc" && extension != ".h") continue;
    ++files;
    const std::string file = fs::relative(entry.path(), root).generic_string();
    for (const auto& [line, text] : StringLiterals(Read(entry.path()))) {
      const bool excepted = std::any_of(
          kExceptions.begin(), kExceptions.end(),
          [&, &text = text](const auto& exception) { return exception.first == file && exception.second == text; });
      EXPECT_TRUE(excepted || !names.contains(text)) << file << ":" << line << ": \"" << text << "\" names an operator";
    }
  }
  EXPECT_GT(files, 0U);
}

}  // namespace
}  // namespace rulerun
