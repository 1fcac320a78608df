// Operators of ai.onnx.ml, and those of com.microsoft that are spelled as ONNX's but take their inputs in another
// order.
#include "tests/kernels/ops/run_op.h"

namespace rulerun {
namespace {

constexpr std::string_view kMl = "ai.onnx.ml";

Tensor Words(const std::vector<std::string>& words) { return {{static_cast<int64_t>(words.size())}, words}; }

TEST(LabelEncoder, MapsKeysToValues) {
  const AttributeMap words = {{"keys_strings", std::vector<std::string>{"a", "b"}},
                              {"values_int64s", std::vector<int64_t>{7, 9}},
                              {"default_int64", int64_t{-3}}};
  ExpectOutput({"LabelEncoder", {Words({"b", "?", "a"})}, words, 2, 1, kMl}, {3}, {9, -3, 7});
  const AttributeMap classes = {{"classes_strings", std::vector<std::string>{"x", "y"}}};
  ExpectOutput({"LabelEncoder", {Words({"y", "z"})}, classes, 1, 1, kMl}, {2}, {1, -1});
  const Tensor named = RunToTensor({"LabelEncoder", {Ints({1, 5})}, classes, 1, 1, kMl});
  EXPECT_EQ(named.strings(), (std::vector<std::string>{"y", "_Unused"}));
  const AttributeMap uneven = {{"keys_floats", std::vector<float>{1}}, {"values_floats", std::vector<float>{1, 2}}};
  EXPECT_NE(ErrorOf({"LabelEncoder", {Floats({1}, {1})}, uneven, 2, 1, kMl}), "");
}

TEST(OneHotEncoder, SetsTheCategory) {
  AttributeMap attributes = {{"cats_int64s", std::vector<int64_t>{4, 6}}};
  ExpectOutput({"OneHotEncoder", {Ints({6, 5, 4})}, attributes, 1, 1, kMl}, {3, 2}, {0, 1, 0, 0, 1, 0});
  ExpectOutput({"OneHotEncoder", {Floats({1, 1}, {4})}, attributes, 1, 1, kMl}, {1, 1, 2}, {1, 0});
  attributes["zeros"] = int64_t{0};
  EXPECT_NE(ErrorOf({"OneHotEncoder", {Ints({5})}, attributes, 1, 1, kMl}), "");
  const AttributeMap words = {{"cats_strings", std::vector<std::string>{"p", "q"}}};
  ExpectOutput({"OneHotEncoder", {Words({"q"})}, words, 1, 1, kMl}, {1, 2}, {0, 1});
  EXPECT_NE(ErrorOf({"OneHotEncoder", {Ints({5})}, words, 1, 1, kMl}), "");
}

TEST(ArrayFeatureExtractor, PicksColumns) {
  const Tensor x = Floats({2, 3}, {1, 2, 3, 4, 5, 6});
  ExpectOutput({"ArrayFeatureExtractor", {x, Ints({2, 0})}, {}, 1, 1, kMl}, {2, 2}, {3, 1, 6, 4});
  EXPECT_NE(ErrorOf({"ArrayFeatureExtractor", {x, Ints({3})}, {}, 1, 1, kMl}), "");
}

TEST(RotaryEmbedding, TurnsPairsByPosition) {
  const Tensor x = Floats({1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  const Tensor cosines = Floats({3, 2}, {1, 1, 0, 1, 0.5, 1}), sines = Floats({3, 2}, {0, 0, 1, 0, 0.5, 0});
  // Positions 1 and 2; element 0 of a half is turned, element 1 is not.
  const std::vector<double> turned = {-3, 2, 1, 4, -1, 6, 6, 8};
  OpCall call{"RotaryEmbedding", {x, Ints({1}), cosines, sines}, {}, 1, 1, "com.microsoft"};
  ExpectOutput(call, {1, 2, 4}, turned, 1e-6);
  call.inputs[1] = Tensor::Of<int64_t>({1, 2}, {1, 2});
  ExpectOutput(call, {1, 2, 4}, turned, 1e-6);
  call.attributes["interleaved"] = int64_t{1};
  ExpectOutput(call, {1, 2, 4}, {-2, 1, 3, 4, -0.5, 5.5, 7, 8}, 1e-6);
  call.inputs[1] = Ints({2});
  EXPECT_NE(ErrorOf(call), "");  // there is no position 3
}

}  // namespace
}  // namespace rulerun
