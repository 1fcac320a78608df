#include "engine/base/codes.h"
#include "engine/passes/kernel_table.h"
#include "engine/passes/passes.h"
#include "engine/passes/tools.h"

namespace rulerun {
namespace {

Status Check(const Graph& graph, const KernelTable& kernels, const PassScope& scope) {
  for (NodeIndex index = 0; index < graph.node_limit(); ++index) {
    const Node* node = graph.node(index);
    if (node == nullptr) continue;
    for (const Graph* subgraph : graph.Subgraphs(*node)) RULERUN_RETURN_IF_ERROR(Check(*subgraph, kernels, scope));
    if (kernels.Has(graph, *node, scope.rules->schemas)) continue;
    return Error{Code::kNotInRuntime,
                 "ONNX Runtime has no kernel for " + Described(graph, *node) + ", version " +
                     std::to_string(node->since_version) + ", on " + scope.target->platform->name,
                 "node '" + NameOf(*node) + "'", "Use another operator, element type or opset."};
  }
  return {};
}

}  // namespace

Result<PassResult> RequireKernels(const PassScope& scope) {
  RULERUN_ASSIGN(const KernelTable kernels, KernelTable::Read(scope));
  RULERUN_RETURN_IF_ERROR(Check(*scope.graph, kernels, scope));
  return PassResult();
}

}  // namespace rulerun
