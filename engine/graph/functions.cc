#include "engine/graph/functions.h"

#include <onnx/inliner/inliner.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "engine/base/codes.h"
#include "engine/graph/proto.h"

namespace rulerun {
namespace {

// A few functions that call each other twice each would fill any memory.
constexpr double kMostNodes = 4'000'000;
constexpr int kDeepestCall = 200;

using FunctionKey = std::tuple<std::string, std::string, std::string>;  // domain, name, overload

// How many nodes the model has once every call is replaced.
class Expansion {
 public:
  explicit Expansion(const onnx::ModelProto& model) {
    for (const auto& function : model.functions()) {
      functions_[{std::string(NormalDomain(function.domain())), function.name(), function.overload()}] = &function;
    }
  }

  // std::nullopt: functions call each other in a circle, or too deep.
  template <typename Nodes>
  std::optional<double> Count(const Nodes& nodes, int depth = 0) {
    if (depth > kDeepestCall) return std::nullopt;
    double count = 0;
    for (const onnx::NodeProto& node : nodes) {
      const auto called = CountCall(node, depth);
      if (!called) return std::nullopt;
      count += *called;
      for (const auto& attribute : node.attribute()) {
        if (!attribute.has_g()) continue;
        const auto inner = Count(attribute.g().node(), depth + 1);
        if (!inner) return std::nullopt;
        count += *inner;
      }
    }
    return count;
  }

 private:
  std::optional<double> CountCall(const onnx::NodeProto& node, int depth) {
    const FunctionKey key{std::string(NormalDomain(node.domain())), node.op_type(), node.overload()};
    const auto function = functions_.find(key);
    if (function == functions_.end()) return 1;
    const auto known = counts_.find(key);
    if (known != counts_.end()) return known->second;
    if (!open_.insert(key).second) return std::nullopt;
    const auto count = Count(function->second->node(), depth + 1);
    open_.erase(key);
    if (count) counts_[key] = *count;
    return count;
  }

  std::map<FunctionKey, const onnx::FunctionProto*> functions_;
  std::map<FunctionKey, double> counts_;
  std::set<FunctionKey> open_;
};

Status CheckExpansion(const onnx::ModelProto& model, const std::string& path) {
  const auto count = Expansion(model).Count(model.graph().node());
  if (!count) {
    return Error{Code::kBadFunction, "model functions call each other in a circle, or too deep", path,
                 "A function must not call itself, directly or through others."};
  }
  if (*count <= kMostNodes) return {};
  return Error{Code::kBadFunction, "the model has too many nodes once its functions are inlined", path,
               "Export the model without functions."};
}

// Domains that only function bodies use are imported by the model from now on.
void AddImports(onnx::ModelProto& model) {
  std::set<std::string> imported;
  for (const auto& import : model.opset_import()) imported.insert(std::string(NormalDomain(import.domain())));
  for (const auto& function : model.functions()) {
    for (const auto& import : function.opset_import()) {
      if (imported.insert(std::string(NormalDomain(import.domain()))).second) *model.add_opset_import() = import;
    }
  }
}

}  // namespace

Status InlineFunctions(ModelFile& file, const std::string& path) {
  onnx::ModelProto& model = file.proto;
  RULERUN_RETURN_IF_ERROR(CheckExpansion(model, path));
  AddImports(model);
  // The inliner makes new names; it must know those of the initializers, which lie elsewhere.
  onnx::GraphProto& graph = *model.mutable_graph();
  const int own = graph.initializer_size();
  for (const NamedTensor& initializer : file.initializers) graph.add_initializer()->set_name(initializer.name);
  onnx::inliner::InlineLocalFunctions(model, false);
  // Functions written for another opset than the model's stay; they need conversion.
  if (model.functions_size() > 0) onnx::inliner::InlineLocalFunctions(model, true);
  const int stubs = static_cast<int>(file.initializers.size());
  graph.mutable_initializer()->DeleteSubrange(own, stubs);
  if (model.functions_size() > 0) {
    const auto& left = model.functions(0);
    return Error{Code::kBadFunction,
                 "function '" + left.domain() + "." + left.name() +
                     "' cannot be inlined: it imports other "
                     "opset versions than the model",
                 path, "Export the model and its functions for the same opset."};
  }
  // The header's imports are written when the model is saved.
  onnx::ModelProto header;
  if (header.ParseFromString(file.header)) {
    *header.mutable_opset_import() = model.opset_import();
    file.header = header.SerializeAsString();
  }
  return {};
}

}  // namespace rulerun
