// Files of operator schemas: what they say, and what is told of those that are wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "engine/ruleset/reading.h"

namespace rulerun {
namespace {

using ::testing::HasSubstr;

struct ReadFileResult {
  ExternalSchemas schemas;
  std::string error;  // the first, or ""
};

ReadFileResult ReadText(const std::string& text) {
  const std::filesystem::path path =
      std::filesystem::path(testing::TempDir()) / ("schemas-" + std::to_string(getpid()) + ".yaml");
  std::ofstream(path) << text;
  ReadFileResult result;
  Diagnostics errors;
  ReadSchemas(path.string(), result.schemas, errors);
  if (!errors.ok()) result.error = ToString(errors.Take());
  return result;
}

std::string ErrorOfOperator(const std::string& body) {
  return ReadText("domain: com.example\nops:\n  Op:\n" + body).error;
}

TEST(OperatorSchemas, SayInputsTypesAndShapes) {
  const auto read = ReadText(
      "domain: com.example\n"
      "ops:\n"
      "  Op:\n"
      "    inputs: T x[B, D..., _], float b[3 * H]?, T rest...\n"
      "    outputs: T y[B, 4, @sizes[1] | H, @n]\n"
      "    attributes: ints sizes?, int n = 2\n"
      "    types: {T: [int8, uint8]}\n");
  ASSERT_EQ(read.error, "");
  const OpSchema* schema = read.schemas.Find("com.example", "Op");
  ASSERT_NE(schema, nullptr);
  EXPECT_EQ(schema->min_inputs, 3);
  const FormalShape& x = *schema->inputs[0].shape;
  ASSERT_EQ(x.size(), 3U);
  EXPECT_EQ(x[0][0].name, "B");
  EXPECT_TRUE(x[1][0].rest);
  EXPECT_EQ(x[2][0].kind, FormalDim::Kind::kAny);
  EXPECT_EQ(schema->inputs[1].shape->front().front().number, 3);
  EXPECT_TRUE(schema->inputs[1].optional);
  EXPECT_FALSE(schema->inputs[2].shape.has_value());
  const FormalShape& y = *schema->outputs[0].shape;
  EXPECT_EQ(y[1][0].kind, FormalDim::Kind::kSize);
  EXPECT_EQ(y[1][0].number, 4);
  ASSERT_EQ(y[2].size(), 2U);
  EXPECT_TRUE(y[2][0].listed);
  EXPECT_EQ(y[2][0].number, 1);
  EXPECT_EQ(y[2][1].name, "H");
  EXPECT_FALSE(y[3][0].listed);
}

TEST(OperatorSchemas, ErrorsSayWhereAndWhat) {
  EXPECT_THAT(ReadText("domain: com.example\n").error, HasSubstr("has the keys 'domain' and 'ops'"));
  EXPECT_THAT(ErrorOfOperator("    input: T x\n"),
              HasSubstr(":4:5: a schema has no key 'input', did you mean 'inputs'?"));
  EXPECT_THAT(ErrorOfOperator("    inputs: T x\n"), HasSubstr("'T' is neither an element type nor declared"));
  EXPECT_THAT(ErrorOfOperator("    inputs: float x\n    shape: like Relo(x)\n"),
              HasSubstr("ONNX has no operator 'Relo', did you mean 'Relu'?"));
  EXPECT_THAT(ErrorOfOperator("    inputs: float x\n    attributes: number n\n"),
              HasSubstr(":5:24: 'number' is no kind of attribute"));
}

TEST(OperatorSchemas, ErrorsInShapes) {
  const auto outputs = [](const std::string& written) {
    return ErrorOfOperator("    inputs: float data[Rows, Columns]\n    outputs: float y[" + written +
                           "]\n    attributes: int n\n");
  };
  EXPECT_EQ(outputs("Rows, @n"), "");
  EXPECT_THAT(outputs("Row"), HasSubstr("no input has a dimension 'Row', did you mean 'Rows'?"));
  EXPECT_THAT(outputs("@m"), HasSubstr("there is no attribute 'm'"));
  EXPECT_THAT(outputs("@n[0"), HasSubstr("expected ']'"));
  EXPECT_THAT(outputs("Rows Columns"), HasSubstr("expected ']'"));
  EXPECT_THAT(outputs("Rows..., Columns..."), HasSubstr("'y' has '...' more than once"));
  EXPECT_THAT(outputs("-1"), HasSubstr("a size is not below 0"));
  EXPECT_THAT(ErrorOfOperator("    inputs: float x[@n]\n    attributes: int n\n"),
              HasSubstr("the shape of input 'x' names dimensions only"));
  EXPECT_THAT(ErrorOfOperator("    inputs: float x[0 * N]\n"), HasSubstr("a factor above 0"));
}

}  // namespace
}  // namespace rulerun
