// The tables of docs/rule-language.md are those of the program.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "engine/ruleset/keys.h"
#include "engine/ruleset/predicates.h"

namespace rulerun {
namespace {

const std::string kPage = std::string(RULERUN_SOURCE_DIR) + "/docs/rule-language.md";

std::string Read() {
  std::ifstream file(kPage, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) escaped += c == '|' ? std::string("\\|") : std::string(1, c);
  return escaped;
}

std::string_view Arguments(ArgKind kind) {
  switch (kind) {
    case ArgKind::kValues:
      return "`[x, w]`";
    case ArgKind::kValueToSet:
      return "`{x: q8}`, `{x: [int8, uint8]}`";
    case ArgKind::kValueToNumber:
      return "`{x: 0}`";
    case ArgKind::kValueToValue:
      return "`{m: t}`";
    case ArgKind::kValueToShape:
      return "`{a: [1, C, _...]}`";
    case ArgKind::kValueToScalar:
      return "`{x: 128}`";
    case ArgKind::kValueToMap:
      return "`{w: {axis: 0, sizes: [16, 32]}}`";
    case ArgKind::kValueToRange:
      return "`{w: [-64, 64]}`";
    case ArgKind::kPair:
      return "`[x, y]`";
    case ArgKind::kPairOfNumbers:
    case ArgKind::kMapOfNumbers:
      return "`[x, 0.5]`, `{R: 7, S: 7}`";
    case ArgKind::kLabels:
      return "`[clip]`";
    case ArgKind::kLabelToSet:
      return "`{clip: [6]}`";
    case ArgKind::kLabelToNumber:
      return "`{dq: 0}`";
    case ArgKind::kLabelToList:
      return "`{mean: [-1]}`";
    case ArgKind::kLabelAttr:
      return "`{dq.block_size: 0}`";
    case ArgKind::kClose:
      return "`{of: [x, y], atol: 1.0e-6, rtol: 1.0e-2}`";
    case ArgKind::kName:
      return "`x`, `[x, y]`, `{loop: 1}`";
    case ArgKind::kRange:
      return "`{min: 13, below: 20}`";
    case ArgKind::kConditionLists:
      return "`[{..}, {..}]`";
    case ArgKind::kConditions:
      return "`{..}`, `[{..}, {..}]`";
    case ArgKind::kIfThen:
      return "`if: {..}, then: [..]`";
  }
  return "";
}

std::string PredicateTable() {
  std::string table = "| predicate | written | holds if |\n|---|---|---|\n";
  for (const PredicateInfo& predicate : Predicates()) {
    table += "| `" + std::string(predicate.name) + "` | " + std::string(Arguments(predicate.args)) + " | " +
             Escaped(predicate.doc) + " |\n";
  }
  return table;
}

std::string CheckTable() {
  std::string table = "| check | refuses, for |\n|---|---|\n";
  for (const BuiltinInfo& check : BuiltinChecks()) {
    table += "| `" + std::string(check.name) + "` | " + Escaped(check.phrase) + " |\n";
  }
  return table;
}

std::string FunctionTable() {
  std::string table = "| tensor function | |\n|---|---|\n";
  for (const TensorFunctionInfo& function : TensorFunctions()) {
    table += "| `" + std::string(function.signature) + "` | " + Escaped(function.doc) + " |\n";
  }
  return table;
}

// Puts `table` between the two comments that name it.
void Fill(const std::string& name, const std::string& table, std::string& page) {
  const std::string open = "<!-- " + name + ": written by tests/engine/ruleset/docs_test.cc -->\n";
  const std::string close = "<!-- end of " + name + " -->";
  const size_t begin = page.find(open);
  ASSERT_NE(begin, std::string::npos) << open;
  const size_t end = page.find(close, begin);
  ASSERT_NE(end, std::string::npos) << close;
  page.replace(begin + open.size(), end - begin - open.size(), table);
}

TEST(RuleLanguagePage, TablesAreCurrent) {
  std::string page = Read();
  const std::string kept = page;
  Fill("predicates", PredicateTable(), page);
  Fill("checks", CheckTable(), page);
  Fill("functions", FunctionTable(), page);
  if (std::getenv("RULERUN_UPDATE_DOCS") != nullptr) std::ofstream(kPage, std::ios::binary) << page;
  EXPECT_TRUE(std::getenv("RULERUN_UPDATE_DOCS") != nullptr || page == kept)
      << "docs/rule-language.md is out of date: run this test with RULERUN_UPDATE_DOCS=1";
}

TEST(RuleLanguagePage, SpeaksOfEveryKey) {
  const std::string page = Read();
  for (const KeyTable table : {KeyTable::kManifest, KeyTable::kStage, KeyTable::kFile, KeyTable::kRule, KeyTable::kCase,
                               KeyTable::kTest, KeyTable::kOps, KeyTable::kEverywhere}) {
    for (const KeyInfo& key : Keys(table)) {
      EXPECT_NE(page.find(key.name), std::string::npos) << Name(table) << ": " << key.name;
    }
  }
}

TEST(RuleLanguagePage, NothingIsDeclaredWithoutADoc) {
  for (const PredicateInfo& predicate : Predicates()) {
    EXPECT_FALSE(predicate.doc.empty()) << predicate.name;
    EXPECT_FALSE(predicate.phrase.empty()) << predicate.name;
    EXPECT_EQ(FindPredicate(predicate.name), &predicate);
  }
  for (const TensorFunctionInfo& function : TensorFunctions()) EXPECT_EQ(FindTensorFunction(function.name), &function);
  EXPECT_EQ(FindPredicate("no such predicate"), nullptr);
}

}  // namespace
}  // namespace rulerun
