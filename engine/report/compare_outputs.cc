#include "engine/report/compare_outputs.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <set>

#include "engine/report/rule_ops.h"

namespace rulerun {
namespace {

constexpr int kTrials = 4;
// The trials are few and their errors random; those of a real run need not be.
constexpr double kSafety = 2;
// Of the largest magnitude: sums taken in another order, a polynomial instead of another.
constexpr double kFloatRounding = 1e-4;
constexpr double kHalfRounding = 1e-2;

double Largest(const Tensor& tensor) {
  double largest = 0;
  for (int64_t i = 0; i < tensor.count(); ++i) {
    const double value = std::fabs(ElementAsDouble(tensor, i));
    if (std::isfinite(value)) largest = std::max(largest, value);
  }
  return largest;
}

// NaN equals NaN, an infinity itself.
double Distance(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  const double distance = std::fabs(a - b);
  return std::isnan(distance) ? INFINITY : distance;
}

std::string Described(const Tensor& tensor) {
  return std::string(Name(tensor.type())) + ToString(ToShape(tensor.dims()));
}

void CompareStrings(const Tensor& before, const Tensor& after, OutputDifference& difference) {
  for (size_t i = 0; i < before.strings().size(); ++i) {
    if (before.strings()[i] != after.strings()[i]) ++difference.differing;
  }
  difference.beyond = difference.differing > 0;
}

OutputDifference CompareOne(const std::string& name, const Tensor* before, const Tensor* after, double tolerance) {
  OutputDifference difference;
  difference.output = name;
  difference.tolerance = tolerance;
  if (before == nullptr || after == nullptr || before->type() != after->type() || before->dims() != after->dims()) {
    difference.code = Code::kOutputDiffers;
    difference.problem = (before == nullptr ? "nothing" : Described(*before)) + " before, " +
                         (after == nullptr ? "nothing" : Described(*after)) + " after";
    difference.beyond = true;
    return difference;
  }
  difference.elements = before->count();
  if (before->type() == DataType::kString) {
    CompareStrings(*before, *after, difference);
    return difference;
  }
  for (int64_t i = 0; i < before->count(); ++i) {
    const double distance = Distance(ElementAsDouble(*before, i), ElementAsDouble(*after, i));
    if (distance > 0) ++difference.differing;
    difference.max_abs = std::max(difference.max_abs, distance);
  }
  if (difference.max_abs == 0) return difference;
  const double scale = Largest(*before);
  difference.max_rel = scale > 0 ? difference.max_abs / scale : INFINITY;
  difference.beyond = difference.max_abs > tolerance;
  return difference;
}

const Tensor* Find(const TensorMap& tensors, const std::string& name) {
  const auto found = tensors.find(name);
  return found == tensors.end() ? nullptr : &found->second;
}

// The codes, each off by a step or not, within the range of their type.
template <typename T>
Tensor Shaken(const Tensor& codes, std::mt19937_64& random) {
  Tensor shaken(codes.type(), codes.dims());
  std::uniform_int_distribution<int> step(-1, 1);
  const auto range = *RangeOf(codes.type());
  for (int64_t i = 0; i < codes.count(); ++i) {
    const int64_t code = ElementAsInt(codes, i) + step(random);
    shaken.mutable_data<T>()[i] = static_cast<T>(std::clamp(code, range.min, range.max));
  }
  return shaken;
}

void Shake(Tensor& codes, std::mt19937_64& random) {
  switch (codes.type()) {
    case DataType::kUint8:
      codes = Shaken<uint8_t>(codes, random);
      break;
    case DataType::kInt8:
      codes = Shaken<int8_t>(codes, random);
      break;
    case DataType::kUint16:
      codes = Shaken<uint16_t>(codes, random);
      break;
    case DataType::kInt16:
      codes = Shaken<int16_t>(codes, random);
      break;
    default:
      break;  // codes of 4 bits are not for activations, floating-point codes not for int8 operators
  }
}

// The quantizers behind an operator: what an int8 operator rounds otherwise. One that reads an input, a constant or
// what was dequantized a moment ago gives the same codes in a rewritten model.
void CollectRounding(Graph& graph, const RuleSet& rules, std::set<const Node*>& nodes) {
  for (NodeIndex index = 0; index < graph.node_limit(); ++index) {
    const Node* node = graph.node(index);
    if (node == nullptr) continue;
    for (Graph* inner : graph.Subgraphs(*node)) CollectRounding(*inner, rules, nodes);
    if (!IsInOpSet(rules, "Q", node->Op())) continue;
    const Node* source = graph.Producer(node->input(0));
    if (source != nullptr && !IsInOpSet(rules, "DQ", source->Op())) nodes.insert(node);
  }
}

// Whether the graph, or one inside it, computes in 16-bit floating point.
bool HasHalf(const Graph& graph) {
  for (size_t i = 0; i < graph.value_count(); ++i) {
    const DataType type = graph.TypeOf(static_cast<ValueId>(i)).element;
    if (type == DataType::kFloat16 || type == DataType::kBfloat16) return true;
  }
  return false;
}

}  // namespace

std::vector<OutputDifference> Compare(const Graph& graph, const TensorMap& before, const TensorMap& after,
                                      const Tolerances& tolerances) {
  std::vector<OutputDifference> differences;
  for (const ValueId id : graph.outputs()) {
    const std::string& name = graph.value(id).name;
    const auto tolerance = tolerances.find(name);
    differences.push_back(
        CompareOne(name, Find(before, name), Find(after, name), tolerance == tolerances.end() ? 0 : tolerance->second));
  }
  return differences;
}

Result<Tolerances> RoundingTolerances(Graph& graph, const RuleSet& rules, const TensorMap& inputs,
                                      const TensorMap& before, Executor& executor) {
  const double relative = HasHalf(graph) ? kHalfRounding : kFloatRounding;
  Tolerances tolerances;
  for (const auto& [name, tensor] : before) {
    if (tensor.type() != DataType::kString) tolerances[name] = IsFloat(tensor.type()) ? relative * Largest(tensor) : 0;
  }
  std::mt19937_64 random(1);
  std::set<const Node*> rounding;
  CollectRounding(graph, rules, rounding);
  executor.EditValues([&](const Node& node, const Value&, Tensor& tensor) {
    if (rounding.count(&node) > 0) Shake(tensor, random);
  });
  Tolerances deviations;
  for (int trial = 0; trial < kTrials; ++trial) {
    RULERUN_ASSIGN(const TensorMap shaken, executor.Run(inputs));
    for (const OutputDifference& difference : Compare(graph, before, shaken, {})) {
      double& largest = deviations[difference.output];
      if (std::isfinite(difference.max_abs)) largest = std::max(largest, difference.max_abs);
    }
  }
  executor.EditValues(nullptr);
  for (auto& [name, tolerance] : tolerances) tolerance += kSafety * deviations[name];
  return tolerances;
}

}  // namespace rulerun
