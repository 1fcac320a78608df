// The JSON Schemas for editors: up to date, and of one mind with the reader about which files have the right form.
#include "engine/ruleset/schema_json.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#endif
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

#include "engine/base/text.h"
#include "engine/ruleset/ruleset.h"
#include "engine/ruleset/yaml.h"

namespace rulerun {
namespace {

namespace fs = std::filesystem;

const fs::path kSource = RULERUN_SOURCE_DIR;

// As an editor's YAML support sees it.
nlohmann::json ToJson(const Yaml& yaml) {
  switch (yaml.kind) {
    case Yaml::Kind::kNull:
      return nullptr;
    case Yaml::Kind::kScalar:
      if (const auto integer = yaml.AsInt()) return *integer;
      if (const auto number = yaml.AsDouble()) return *number;
      if (const auto truth = yaml.AsBool()) return *truth;
      return yaml.scalar;
    case Yaml::Kind::kSequence: {
      nlohmann::json list = nlohmann::json::array();
      for (const Yaml& item : yaml.items) list.push_back(ToJson(item));
      return list;
    }
    case Yaml::Kind::kMap: {
      nlohmann::json map = nlohmann::json::object();
      for (const auto& [key, value] : yaml.entries) map[key] = ToJson(value);
      return map;
    }
  }
  return nullptr;
}

class SchemaFile {
 public:
  explicit SchemaFile(const std::string& text) : json_(nlohmann::json::parse(text)) {
    valijson::SchemaParser parser;
    const valijson::adapters::NlohmannJsonAdapter adapter(json_);
    parser.populateSchema(adapter, schema_);
  }

  // "" where the schema accepts the file.
  std::string ErrorsOf(const Yaml& yaml) {
    const nlohmann::json json = ToJson(yaml);
    const valijson::adapters::NlohmannJsonAdapter adapter(json);
    valijson::Validator validator;
    valijson::ValidationResults results;
    if (validator.validate(schema_, adapter, &results)) return "";
    std::string all = "rejected";
    valijson::ValidationResults::Error error;
    while (results.popError(error)) {
      for (const std::string& part : error.context) all += part;
      all += ": " + error.description + "\n";
    }
    return all;
  }

 private:
  nlohmann::json json_;
  valijson::Schema schema_;
};

void ExpectCurrent(const fs::path& path, const std::string& generated) {
  if (std::getenv("RULERUN_UPDATE_SCHEMAS") != nullptr) std::ofstream(path, std::ios::binary) << generated;
  std::ifstream file(path, std::ios::binary);
  const std::string kept{std::istreambuf_iterator<char>(file), {}};
  EXPECT_TRUE(kept == generated) << path << " is out of date: run this test with RULERUN_UPDATE_SCHEMAS=1";
}

TEST(Schemas, FilesAreCurrent) {
  ExpectCurrent(kSource / "schemas/rules.schema.json", RulesSchemaJson());
  ExpectCurrent(kSource / "schemas/ruleset.schema.json", RuleSetSchemaJson());
}

TEST(Schemas, AcceptTheShippedFiles) {
  SchemaFile rules(RulesSchemaJson());
  SchemaFile sets(RuleSetSchemaJson());
  size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(kSource / "rules")) {
    if (entry.path().extension() != ".yaml") continue;
    const auto yaml = ReadYaml(entry.path().string());
    ASSERT_TRUE(yaml.ok()) << ToString(yaml.error());
    const bool is_set = yaml->Get("ruleset") != nullptr;
    const bool is_rules = yaml->Get("rules") != nullptr || yaml->Get("replace") != nullptr;
    if (!is_set && !is_rules) continue;  // schemas of operators, tables
    ++files;
    EXPECT_EQ((is_set ? sets : rules).ErrorsOf(*yaml), "") << entry.path();
  }
  EXPECT_GE(files, 9U);
}

// The form of a file of rules: what both must accept, and what both must reject.
struct Sample {
  bool good;
  const char* text;
};

constexpr const char* kRule = "  - rule: A\n    match: y = Add(x, b)\n    replace: y = x\n";

const Sample kSamples[] = {
    {true, ""},
    {true, "    where: [{constant: [b]}, {rank: {b: 0}, scalar: b}]\n"},
    {true, "    where: {constant: b}\n"},
    {true, "    where: [{shape: {b: [1, _...]}}, {type: {b: {not: [int8]}}}, {close: {of: [b, 1], atol: 1.0e-6}}]\n"},
    {true,
     "    where: [{any: [{present: [b]}, [{absent: [b]}]]}, {not: {static: [x]}}, {if: {present: b}, then: {static: "
     "b}}]\n"},
    {true,
     "    where: [{at_most: {b: 7}}, {less: [b, 0.5]}, {outside: {b: [-64, 64]}}, {opset: {min: 13}}, {level: "
     "basic}]\n"},
    {true, "    where: [{present: [b], why: because}]\n"},
    {true, "    shared: [x]\n    outputs-ok: x\n    ep: [cpu, none]\n    since-ort: 1.20\n    source: a file\n"},
    {true, "    faults: [{id: F, effect: load-error, when: {static: [x]}, note: wrong}]\n"},
    {true, "    tests: [{no-match: \"g (float[4] x) => (float[4] y) { y = Relu(x) }\"}]\n"},
    {true, "    if: {option: loop, opset: {min: 13, below: 20}}\n"},
    {false, "    wheer: []\n"},
    {false, "    where: yes\n"},
    {false, "    where: [yes]\n"},
    {false, "    where: [{}]\n"},
    {false, "    where: [{constnat: [b]}]\n"},
    {false, "    where: [{constant: {b: 1}}]\n"},
    {false, "    where: [{constant: []}]\n"},
    {false, "    where: [{rank: {b: high}}]\n"},
    {false, "    where: [{rank: [b]}]\n"},
    {false, "    where: [{rank: {}}]\n"},
    {false, "    where: [{same: [b]}]\n"},
    {false, "    where: [{shape: {b: 1}}]\n"},
    {false, "    where: [{close: [b, 1]}]\n"},
    {false, "    where: [{close: {of: [b, 1, 2]}}]\n"},
    {false, "    where: [{close: {of: [b, 1], tol: 1}}]\n"},
    {false, "    where: [{less: [b]}]\n"},
    {false, "    where: [{outside: {b: [1]}}]\n"},
    {false, "    where: [{any: {present: [b]}}]\n"},
    {false, "    where: [{any: []}]\n"},
    {false, "    where: [{if: {present: [b]}}]\n"},
    {false, "    where: [{then: {present: [b]}}]\n"},
    {false, "    where: [{opset: 13}]\n"},
    {false, "    where: [{opset: {max: 13}}]\n"},
    {false, "    where: [{type: {b: {except: [int8]}}}]\n"},
    {false, "    where: [{blocks: {b: {axis: 0}}}]\n"},
    {false, "    faults: [{id: F}]\n"},
    {false, "    faults: [{id: F, effect: bad}]\n"},
    {false, "    faults: {id: F, effect: load-error}\n"},
    {false, "    names: {b: [a]}\n"},
    {false, "    names: {b: {exactly: a}}\n"},
    {false, "    types: {t: [int8]}\n"},
    {false, "    private: maybe\n"},
    {false, "    cases: [{replace: y = x, error: no}]\n"},
    {false, "    error: no\n"},
    {false, "    unit: y = Q(Add(DQ(x), DQ(b)))\n"},
    {false, "    tests: [{graph: a}]\n"},
    {false, "    tests: [{no-match: a, error: b}]\n"},
    {false, "    if: {optoin: loop}\n"},
};

TEST(Schemas, AgreeWithTheReader) {
  SchemaFile schema(RulesSchemaJson());
  const fs::path folder = fs::path(testing::TempDir()) / "rulerun_schema_test";
  fs::create_directories(folder);
  std::ofstream(folder / "set.yaml") << "ruleset: s\nplatforms: {p: {f: 1}}\noptions: {loop: {default: 1}}\n"
                                        "pipeline: [{rules: sample.yaml}]\n";
  for (const Sample& sample : kSamples) {
    SCOPED_TRACE(sample.text);
    const std::string text = "rules:\n" + std::string(kRule) + sample.text;
    std::ofstream(folder / "sample.yaml") << text;
    const auto rules = ReadRuleSet((folder / "set.yaml").string());
    EXPECT_EQ(rules.ok(), sample.good) << (rules.ok() ? "" : ToString(rules.error()));
    const auto yaml = ParseYaml(text, "sample.yaml");
    ASSERT_TRUE(yaml.ok());
    const std::string errors = schema.ErrorsOf(*yaml);
    EXPECT_EQ(errors.empty(), sample.good) << errors;
  }
}

const Sample kManifests[] = {
    {true, "pipeline: []\n"},
    {true, "pipeline: [{stages: [{pass: a, level: basic}, {pass: b, level: 99}], loop: 10, level: all}]\n"},
    {true, "pipeline: [{pass: a, recurse: false, once: true, ep: any}]\n"},
    {false, "pipeline: [{pass: a, not-after: [b]}]\n"},
    {false, "pipeline: {}\n"},
    {false, "pipeline: [{level: basic}]\n"},
    {false, "pipeline: [{pass: a, stages: []}]\n"},
    {false, "pipeline: [{pass: a, loop: many}]\n"},
    {false, "pipeline: [{pass: a, recurse: sometimes}]\n"},
    {false, "pipeline: [{pass: a, unles: {fact: f}}]\n"},
    {false, "pipeline: []\ninvalid-replacement: ignore\n"},
    {false, "pipeline: []\noptions: {o: {key: k}}\n"},
    {false, "pipeline: []\nplatforms: [a]\n"},
    {false, "pipeline: []\nplatforms: {a: {f: [1]}}\n"},
    {false, "pipeline: []\nops: {sets: [Q]}\n"},
    {false, "pipeline: []\neverywhere: {}\n"},
    {false, "pipelin: []\n"},
};

TEST(Schemas, AgreeWithTheReaderOfManifests) {
  SchemaFile schema(RuleSetSchemaJson());
  const fs::path file = fs::path(testing::TempDir()) / "rulerun_schema_manifest.yaml";
  for (const Sample& sample : kManifests) {
    SCOPED_TRACE(sample.text);
    const std::string text = "ruleset: s\n" + std::string(sample.text);
    std::ofstream(file) << text;
    const auto rules = ReadRuleSet(file.string());
    EXPECT_EQ(rules.ok(), sample.good) << (rules.ok() ? "" : ToString(rules.error()));
    const auto yaml = ParseYaml(text, "sample.yaml");
    ASSERT_TRUE(yaml.ok());
    const std::string errors = schema.ErrorsOf(*yaml);
    EXPECT_EQ(errors.empty(), sample.good) << errors;
  }
}

}  // namespace
}  // namespace rulerun
