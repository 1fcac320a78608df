#include <gmock/gmock.h>

#include "pass_test_util.h"

namespace rulerun {
namespace {

using testing::HasSubstr;

// A Reshape to u and 4, and the constant shape it gets; none: it keeps its Concat.
struct ShapeCase {
  std::string name;
  std::string graph;
  std::string shape;
  int opset = 17;
};
void PrintTo(const ShapeCase& tested, std::ostream* out) { *out << tested.name; }
std::string NameOf(const testing::TestParamInfo<ShapeCase>& tested) { return tested.param.name; }

class ReshapeFusion : public testing::TestWithParam<ShapeCase> {};

TEST_P(ReshapeFusion, Run) {
  const RunOptions run{.opset = GetParam().opset};
  Model model = ParseGraph(GetParam().graph, run);
  const std::string before = ShowNodes(*model.graph);
  const auto result = RunPass("reshape-fusion", model, run);
  ASSERT_TRUE(result.ok()) << ToString(result.error());
  EXPECT_EQ(result->modified, !GetParam().shape.empty());
  if (GetParam().shape.empty()) {
    EXPECT_EQ(ShowNodes(*model.graph), before);
    return;
  }
  EXPECT_THAT(ShowInitializers(*model.graph), HasSubstr("t = int64{" + GetParam().shape + "}"));
  for (const char* gone : {"[c]", "[u]", "[s]"}) EXPECT_THAT(ShowNodes(*model.graph), testing::Not(HasSubstr(gone)));
}

constexpr char kConstants[] = "int64[1] ax = {0}, int64[1] rest = {4}, int64 zero = {0}, int64 one = {1}";
constexpr char kEnd[] = " [c] t = Concat<axis = 0>(u, rest) [r] y = Reshape(x, t) }";

std::string Made(const std::string& inputs, const std::string& parts) {
  return "g (" + inputs + ") => (float[A,4] y) <" + kConstants + "> {" + parts + kEnd;
}
std::string SizeOf(const std::string& value, const std::string& index = "zero") {
  return "[s] s = Shape(" + value + ") [g] i = Gather<axis = 0>(s, " + index + ") [u] u = Unsqueeze(i, ax)";
}

// At opset 9 Slice has attributes; what it cuts from an unknown shape stays unknown.
std::string Cut(const std::string& from, int start, int end, const std::string& parts) {
  return "g (float[] x, float[] w) => (float[A,4] y) <int64[1] rest = {4}, int64 two = {2}> { [s] s = Shape(" + from +
         ") [l] l = Slice<axes = [0], starts = [" + std::to_string(start) + "], ends = [" + std::to_string(end) +
         "]>(s) [q] q = Squeeze(l) " + parts + kEnd;
}
constexpr char kPlain[] = "[u] u = Unsqueeze<axes = [0]>(q)";
constexpr char kHalf[] = "[d] d = Div(q, two) [u] u = Unsqueeze<axes = [0]>(d)";

// DistilBERT: x is a projection of v, which keeps the size in front; the shapes are not known.
std::string Projected(const std::string& weight, const std::string& source) {
  return "g (float[] n, float[] o) => (float[A,4] y) <" + std::string(kConstants) + ", " + weight +
         ", float[2] b = {0, 0}> { [n] v = Neg(n) [o] z = Neg(o) [m] m = MatMul(v, w) [a] x = Add(m, b) " +
         SizeOf(source) + kEnd;
}
constexpr char kSquare[] = "float[2,2] w = {1, 2, 3, 4}";
constexpr char kRow[] = "float[1,2] w = {1, 2}";

INSTANTIATE_TEST_SUITE_P(
    Cases, ReshapeFusion,
    testing::Values(ShapeCase{"ItsOwnSize", Made("float[N,2,2] x", SizeOf("x")), "0, 4"},
                    ShapeCase{"TheSameSizeOfAnother", Made("float[N,2,2] x, float[N,3] v", SizeOf("v")), "0, 4"},
                    ShapeCase{"AnotherSizeOfAnother", Made("float[N,2,2] x, float[M,3] v", SizeOf("v")), "-1, 4"},
                    ShapeCase{"TheSizeOfAnotherPlace", Made("float[N,2,2] x", SizeOf("x", "one")), "-1, 4"},
                    ShapeCase{"APlaceThatACallerMayGive", Made("float[N,2,2] x, int64 zero", SizeOf("x")), "0, 4"},
                    ShapeCase{"SeveralNumbers", Made("float[N,2,2] x, int64[2] u", ""), ""},
                    ShapeCase{"LastSize", Cut("x", -1, 2147483647, kPlain), "-1, 4", 9},
                    ShapeCase{"OneSize", Cut("x", 1, 2, kPlain), "-1, 4", 9},
                    ShapeCase{"HalfASize", Cut("x", 1, 2, kHalf), "-1, 4", 9},
                    ShapeCase{"TwoSizes", Cut("x", 1, 3, kPlain), "", 9},
                    ShapeCase{"OneSizeOfAnother", Cut("w", 1, 2, kPlain), "", 9},
                    ShapeCase{"Projection", Projected(kSquare, "v"), "0, 4"},
                    ShapeCase{"ProjectionOfAnother", Projected(kSquare, "z"), "-1, 4"},
                    ShapeCase{"ProjectionThatIsNotSquare", Projected(kRow, "v"), "-1, 4"}),
    NameOf);

}  // namespace
}  // namespace rulerun
