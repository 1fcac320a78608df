// Every --json output is as its schema says.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include "tests/cli/rulerun.h"

namespace rulerun::cli {
namespace {

using nlohmann::json;

std::string ViolationsOf(const std::string& schema_file, const json& document) {
  const json text = json::parse(ReadFile(SourceFile(schema_file)));
  valijson::Schema schema;
  valijson::SchemaParser().populateSchema(valijson::adapters::NlohmannJsonAdapter(text), schema);
  valijson::ValidationResults results;
  valijson::Validator().validate(schema, valijson::adapters::NlohmannJsonAdapter(document), &results);
  std::string violations;
  valijson::ValidationResults::Error error;
  while (results.popError(error)) {
    for (const std::string& part : error.context) violations += part;
    violations += ": " + error.description + "\n";
  }
  return violations;
}

std::string Violations(const std::string& schema_name, const json& document) {
  return ViolationsOf("schemas/" + schema_name + ".schema.json", document);
}

struct Output {
  std::string schema;
  std::vector<std::string> arguments;
};

TEST(Json, RefusedModelsFollowTheSchemas) {
  const TemporaryFolder folder;
  folder.Write("refused.onnxtxt",
               "<ir_version: 10, opset_import: [\"\" : 21]>\n"
               "g (int32[2,2] x) => (float[4] y) <float s = {0.5}, int32 z = {0}, int64[1] h = {4}>\n"
               "{ [dq] f = DequantizeLinear(x, s, z)  r = Reshape(f, h)  y = Relu(r) }");
  const std::string model = folder.File("refused.onnxtxt");
  const Ran coverage = Rulerun({"coverage", "--json", "--platform", "arm64", model});
  EXPECT_EQ(coverage.exit_code, 3);
  const json covered = json::parse(coverage.out, nullptr, false);
  EXPECT_EQ(Violations("coverage", covered), "");
  EXPECT_EQ(covered["failed"][0]["refusal"]["pass"], "qdq-propagation");
  const Ran explain = Rulerun({"explain", "--json", "--platform", "arm64", model});
  EXPECT_EQ(explain.exit_code, 0) << explain.err;
  const json explained = json::parse(explain.out, nullptr, false);
  EXPECT_EQ(Violations("explain", explained), "");
  EXPECT_EQ(explained["refusal"]["node"], "dq");
  EXPECT_EQ(explained["level"], "disabled");
}

TEST(Json, OutputsFollowTheirSchemas) {
  const std::string model = SampleModel("convnet-qdq.onnx");
  const std::string refusals = SampleModel("refusals-qdq.onnx");
  const std::string floats = SampleModel("convnet-fp32.onnx");
  const Output outputs[] = {
      {"coverage", {"coverage", "--json", model, refusals, floats}},
      {"explain", {"explain", "--json", "--platform", "arm64", refusals}},
      {"explain", {"explain", "--json", "--platform", "arm64", "--node", "conv_wrong_bias", refusals}},
      {"explain", {"explain", "--json", "--platform", "x86-64-avx2", "--node", "softmax_negative_scale", refusals}},
      {"inspect", {"inspect", "--json", model, floats}},
      {"diff", {"diff", "--json", "--left", "platform=x86-64-avx2", "--right", "level=basic", model}},
      {"diff", {"diff", "--json", "--left", "rules=ort130", "--right", "rules=ort130-safe", refusals}},
      {"check", {"check", "--json", "--fail-level", "none", "ort130"}},
      {"verify", {"verify", "--json", "--steps", "--level", "extended", model}},
      {"ops", {"ops", "--json"}},
      {"bench", {"bench", "--json", "--profile", "--runs", "2", model}},
  };
  for (const Output& output : outputs) {
    const Ran ran = Rulerun(output.arguments);
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
    const json document = json::parse(ran.out, nullptr, false);
    ASSERT_FALSE(document.is_discarded()) << ran.out;
    EXPECT_EQ(Violations(output.schema, document), "") << output.schema;
  }
}

TEST(Json, RuleTestsFollowTheirSchema) {
  const Ran ran = Rulerun({"test", "--json", "ort130"});
  ASSERT_LE(ran.exit_code, 1) << ran.err;
  EXPECT_EQ(Violations("rule-tests", json::parse(ran.out)), "");
}

TEST(Json, CoverageSaysPerNodeWhatItsReasonIs) {
  const Ran ran =
      Rulerun({"coverage", "--json", "--level", "extended", "--platform", "arm64", SampleModel("refusals-qdq.onnx")});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const json document = json::parse(ran.out);
  bool found = false;
  for (const json& node : document.at("reports").at(0).at("nodes")) {
    if (node.at("name") != "add_mixed_types") continue;
    found = true;
    EXPECT_EQ(node.at("fate"), "float");
    EXPECT_EQ(node.at("reason").at("rule"), "2DQ");
    EXPECT_EQ(node.at("reason").at("check"), "types");
    EXPECT_EQ(node.at("reason").at("code"), "N0101");
  }
  EXPECT_TRUE(found);
}

TEST(Json, ABrokenModelIsListedAmongTheOthers) {
  const TemporaryFolder folder;
  folder.Write("bad.onnx", "no model");
  const Ran ran = Rulerun({"coverage", "--json", folder.path(), SampleModel("convnet-qdq.onnx")});
  EXPECT_EQ(ran.exit_code, 3);
  const json document = json::parse(ran.out);
  EXPECT_EQ(Violations("coverage", document), "");
  ASSERT_EQ(document.at("failed").size(), 1U);
  EXPECT_EQ(document.at("failed").at(0).at("model"), folder.File("bad.onnx"));
  EXPECT_EQ(document.at("failed").at(0).at("code"), "M0101");
  EXPECT_EQ(document.at("total").at("models"), 1);
}

TEST(Json, SarifHasTheStandardsForm) {
  const TemporaryFolder folder;
  const std::string path = folder.File("out.sarif");
  const Ran ran = Rulerun({"coverage", "--level", "extended", "--platform", "arm64", "--sarif", path,
                           SampleModel("refusals-qdq.onnx"), SampleModel("hostile-names.onnx")});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const json document = json::parse(ReadFile(path));
  EXPECT_EQ(ViolationsOf("tests/data/schemas/sarif.schema.json", document), "");
  const json& run = document.at("runs").at(0);
  const json& rules = run.at("tool").at("driver").at("rules");
  std::map<std::string, int> levels;
  for (const json& result : run.at("results")) {
    const json& rule = rules.at(result.at("ruleIndex").get<size_t>());
    EXPECT_EQ(rule.at("id"), result.at("ruleId"));
    EXPECT_EQ(rule.at("properties").at("code"), result.at("properties").at("code"));
    ++levels[result.at("level")];
  }
  EXPECT_EQ(levels["warning"], 4);  // a Conv, a Sigmoid and an Add refused, a Softmax that is wrong
  EXPECT_EQ(levels["note"], 3);     // three Elus
}

TEST(Json, SarifOfARuleSetHasTheStandardsForm) {
  const TemporaryFolder folder;
  const std::string path = folder.File("out.sarif");
  const std::string rules = SourceFile("tests/data/errors/R0407-two_rules_for_one_node/t.yaml");
  const Ran ran = Rulerun({"check", "--sarif", path, "--fail-level", "note", "--github", rules});
  ASSERT_EQ(ran.exit_code, 1) << ran.err;
  EXPECT_NE(ran.out.find("::notice file="), std::string::npos) << ran.out;
  const json document = json::parse(ReadFile(path));
  EXPECT_EQ(ViolationsOf("tests/data/schemas/sarif.schema.json", document), "");
  const json& result = document.at("runs").at(0).at("results").at(0);
  EXPECT_EQ(result.at("ruleId"), "R0407");
  EXPECT_EQ(result.at("properties").at("rule"), "Second");
  EXPECT_EQ(result.at("relatedLocations").at(0).at("physicalLocation").at("region").at("startLine"), 2);
}

TEST(Json, SarifOfARuleSetThatCannotBeReadHasItsErrors) {
  const TemporaryFolder folder;
  const std::string path = folder.File("out.sarif");
  const std::string rules = folder.Write("t.yaml", "ruleset: t\nplatforms: {p: {}}\npipelin: []\n");
  const Ran ran = Rulerun({"check", "--sarif", path, rules});
  ASSERT_EQ(ran.exit_code, 2) << ran.err;
  const json document = json::parse(ReadFile(path));
  EXPECT_EQ(ViolationsOf("tests/data/schemas/sarif.schema.json", document), "");
  const json& result = document.at("runs").at(0).at("results").at(0);
  EXPECT_EQ(result.at("level"), "error");
  EXPECT_EQ(result.at("properties").at("code"), result.at("ruleId"));
}

}  // namespace
}  // namespace rulerun::cli
