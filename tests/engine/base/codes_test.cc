// The table of codes: well formed, and docs/errors.md is made from it.
#include "engine/base/codes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

namespace rulerun {
namespace {

const std::string kPage = std::string(RULERUN_SOURCE_DIR) + "/docs/errors.md";

std::string_view Heading(char letter) {
  switch (letter) {
    case 'U':
      return "U: the command line (exit status 2)";
    case 'R':
      return "R: rule files (exit status 2; findings of `check` and `test` 1)";
    case 'M':
      return "M: models (exit status 3)";
    case 'X':
      return "X: models that ONNX Runtime refuses (exit status 3)";
    case 'K':
      return "K: what rulerun has no kernel for (exit status 3)";
    case 'V':
      return "V: numbers that differ (`rulerun verify`, exit status 1)";
    case 'N':
      return "N: what became of a node (findings of `coverage`, causes in `diff`; exit status as asked for)";
    default:
      return "S: the system (exit status 3)";
  }
}

std::string Page() {
  std::string page =
      "# Error codes\n\n"
      "What rulerun reports begins with its code, as in `error[R0301]: rules.yaml:3:16: there is no operator 'Rleu'`.\n"
      "A code never changes its meaning. This page is made from the table in `engine/base/codes.h`; below\n"
      "`tests/data/errors` and `tests/data/ruleset/fail` there is an example of each.\n";
  char letter = 0;
  for (const CodeInfo& info : Codes()) {
    if (info.name.front() != letter) {
      letter = info.name.front();
      page += "\n## " + std::string(Heading(letter)) + "\n\n| code | means | what to do |\n|---|---|---|\n";
    }
    page +=
        "| " + std::string(info.name) + " | " + std::string(info.meaning) + " | " + std::string(info.remedy) + " |\n";
  }
  return page;
}

TEST(Codes, AreInOrderAndUnique) {
  std::set<std::string_view> seen;
  std::string_view before;
  for (const CodeInfo& info : Codes()) {
    EXPECT_TRUE(seen.insert(info.name).second) << info.name;
    EXPECT_THAT(std::string(info.name), testing::MatchesRegex("[URMXKSVN][0-9][0-9][0-9][0-9]"));
    EXPECT_EQ(Name(info.code), info.name);
    if (!before.empty() && before.front() == info.name.front()) {
      EXPECT_LT(before, info.name);
    }
    before = info.name;
    EXPECT_NE(info.meaning, "");
    EXPECT_NE(info.meaning.back(), '.') << info.name;
    EXPECT_EQ(info.remedy.back(), '.') << info.name;
  }
}

TEST(Codes, LetterDecidesTheKind) {
  EXPECT_EQ((Error{Code::kUnknownOperator, "", "", ""}).kind(), ErrorKind::kRules);
  EXPECT_EQ((Error{Code::kRuleRefuses, "", "", ""}).kind(), ErrorKind::kRefused);
  EXPECT_EQ((Error{}).kind(), ErrorKind::kSystem);
  EXPECT_EQ(Tag("error", Code::kUnknownOperator), "error[R0301]");
}

TEST(Codes, PageIsUpToDate) {
  if (std::getenv("RULERUN_UPDATE_DOCS") != nullptr) std::ofstream(kPage, std::ios::binary) << Page();
  std::ifstream file(kPage, std::ios::binary);
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(page, Page()) << "run build/release/tests/test_base with RULERUN_UPDATE_DOCS=1";
}

}  // namespace
}  // namespace rulerun
