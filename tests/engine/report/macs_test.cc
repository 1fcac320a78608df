// Multiply-adds by formula, and the shipped table of them.
#include "engine/report/macs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/graph/load.h"
#include "engine/report/fates.h"
#include "tests/engine/report/report_test_util.h"

namespace rulerun {
namespace {

using ::testing::HasSubstr;

const std::string kRoot = RULERUN_SOURCE_DIR;

// Of the last node of a model, by the shipped table.
std::optional<int64_t> Macs(const std::string& text) {
  static const auto& table = *new Result<MacTable>(ReadMacTable(kRoot + "/rules/words/macs.yaml"));
  EXPECT_TRUE(table.ok()) << ToString(table.error());
  auto model = ParseModelText(text, {{"", 21}, {"com.microsoft", 1}}, Rules().schemas);
  EXPECT_TRUE(model.ok()) << ToString(model.error());
  return ListNodes(*model->graph, Rules(), &*table).back().macs;
}

TEST(Macs, OfTheShippedTable) {
  EXPECT_EQ(Macs("g (float[2,4,8,8] x, float[6,2,3,3] w) => (y) { y = Conv<group = 2, pads = [1,1,1,1]>(x, w) }"),
            2 * 6 * 8 * 8 * (2 * 3 * 3));
  EXPECT_EQ(Macs("g (float[1,4,5,5] x, float[4,3,2,2] w) => (y) { y = ConvTranspose(x, w) }"), 4 * 5 * 5 * (3 * 2 * 2));
  EXPECT_EQ(Macs("g (float[5,2,3] a, float[3,7] b) => (y) { y = MatMul(a, b) }"), 5 * 2 * 7 * 3);
  EXPECT_EQ(Macs("g (float[2,3] a, float[3,7] b) => (y) { y = Gemm(a, b) }"), 2 * 7 * 3);
  EXPECT_EQ(Macs("g (float[3,2] a, float[3,7] b) => (y) { y = Gemm<transA = 1>(a, b) }"), 2 * 7 * 3);
  EXPECT_EQ(
      Macs("g (float[6,2,3] x, float[1,16,3] w, float[1,16,4] r) => (y) { y, h, c = LSTM<hidden_size = 4>(x, w, r) }"),
      6 * 2 * (16 * 3 + 16 * 4));
  EXPECT_EQ(Macs("g (float[2,3] a) => (y) { y = Sigmoid(a) }"), 0);
}

TEST(Macs, AreUnknownWhereAShapeIs) {
  EXPECT_EQ(Macs("g (float[N,3] a, float[3,7] b) => (y) { y = MatMul(a, b) }"), std::nullopt);
}

TEST(Macs, AFormulaThatIsNoneIsAnErrorWithItsPlace) {
  for (const char* text : {"", "Y *", "Y W", "Y[", "Y[1", "Y[a]", "Y[a ? 1]", "(Y", "Y)", "Y + * W", "3"}) {
    const auto formula = MacFormula::Parse(text, "macs.yaml:3:7");
    ASSERT_FALSE(formula.ok()) << text;
    EXPECT_EQ(formula.error().place, "macs.yaml:3:7");
    EXPECT_THAT(formula.error().message, HasSubstr("is no formula"));
  }
  EXPECT_TRUE(MacFormula::Parse(" X[0]*( W + R[-1] )* A[t ? 0 : -2] * B[1:] ", "").ok());
}

}  // namespace
}  // namespace rulerun
