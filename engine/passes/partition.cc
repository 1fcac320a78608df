#include "engine/base/codes.h"
#include "engine/graph/function_body.h"
#include "engine/graph/resolve.h"
#include "engine/passes/kernel_table.h"
#include "engine/passes/passes.h"
#include "engine/passes/tools.h"

namespace rulerun {
namespace {

// Bodies hold ever simpler operators; this many rounds means that one contains itself.
constexpr int kMostRounds = 100;

class Partitioner {
 public:
  Partitioner(const PassScope& scope, const KernelTable& kernels)
      : kernels_(kernels), schemas_(scope.rules->schemas), provider_(ProviderOf(scope)) {}

  // Opens what has no kernel, until there is nothing to open, then claims the rest.
  Status Run(Graph& graph) {
    RULERUN_RETURN_IF_ERROR(Open(graph));
    Claim(graph);
    ReportUnclaimed(graph);
    return {};
  }

  Status Open(Graph& graph) {
    for (int round = 0; round < kMostRounds; ++round) {
      RULERUN_ASSIGN(const bool inlined, InlineFunctions(graph));
      if (!inlined) return {};
      result_.modified = true;
      RefreshOuterReads(graph);
      RULERUN_RETURN_IF_ERROR(Resolve(graph, schemas_));
    }
    return Error{Code::kBadFunction, "functions of operators without a kernel contain each other", "", ""};
  }

  PassResult TakeResult() { return std::move(result_); }

 private:
  static std::string ProviderOf(const PassScope& scope) {
    return scope.providers.empty() ? scope.target->provider : scope.providers.front();
  }

  void Claim(Graph& graph) {
    for (NodeIndex index = 0; index < graph.node_limit(); ++index) {
      Node* node = graph.node(index);
      if (node == nullptr) continue;
      for (Graph* subgraph : graph.Subgraphs(*node)) Claim(*subgraph);
      if (node->provider.empty() && kernels_.Has(graph, *node, schemas_)) node->provider = provider_;
    }
  }

  // Subgraphs first; nodes that come from a function wait for the next round.
  Result<bool> InlineFunctions(Graph& graph) {
    bool any = false;
    const NodeIndex limit = graph.node_limit();
    for (NodeIndex index = 0; index < limit; ++index) {
      if (graph.node(index) == nullptr) continue;
      for (Graph* subgraph : graph.Subgraphs(*graph.node(index))) {
        RULERUN_ASSIGN(const bool inner, InlineFunctions(*subgraph));
        any = any || inner;
      }
    }
    for (NodeIndex index = 0; index < limit; ++index) {
      const Node* node = graph.node(index);
      if (node == nullptr || !node->provider.empty() || kernels_.Has(graph, *node, schemas_)) continue;
      RULERUN_ASSIGN(const bool inlined, InlineFunction(graph, index));
      any = any || inlined;
    }
    return any;
  }

  Result<bool> InlineFunction(Graph& graph, NodeIndex index) {
    const Node& node = *graph.node(index);
    PassEvent event;
    event.what = "no kernel for " + Described(graph, node) + ": its function takes its place";
    event.sources = node.origins;
    event.removed = {NameOf(node)};
    RULERUN_ASSIGN(const auto added, InlineFunctionBody(graph, index));
    if (!added) return false;
    for (const NodeIndex made : *added) event.created.push_back(NameOf(*graph.node(made)));
    result_.events.push_back(std::move(event));
    return true;
  }

  void ReportUnclaimed(const Graph& graph) {
    for (NodeIndex index = 0; index < graph.node_limit(); ++index) {
      const Node* node = graph.node(index);
      if (node == nullptr) continue;
      for (const Graph* subgraph : graph.Subgraphs(*node)) ReportUnclaimed(*subgraph);
      if (!node->provider.empty()) continue;
      PassEvent event;
      event.what = "no kernel for " + Described(graph, *node) + " on this platform";
      event.changed = false;
      event.sources = node->origins;
      result_.events.push_back(std::move(event));
    }
  }

  const KernelTable& kernels_;
  const ExternalSchemas& schemas_;
  const std::string provider_;
  PassResult result_;
};

}  // namespace

// Only for a model that has functions of its own, whose calls were replaced on reading it: ONNX Runtime then opens
// ONNX's functions before the first level, too. Reading changes a graph in no other way.
Result<PassResult> InlineLocalFunctions(const PassScope& scope) {
  if (!scope.graph->modified()) return PassResult();
  RULERUN_ASSIGN(const KernelTable kernels, KernelTable::Read(scope));
  Partitioner partitioner(scope, kernels);
  RULERUN_RETURN_IF_ERROR(partitioner.Open(*scope.graph));
  return partitioner.TakeResult();
}

Result<PassResult> Partition(const PassScope& scope) {
  RULERUN_ASSIGN(const KernelTable kernels, KernelTable::Read(scope));
  Partitioner partitioner(scope, kernels);
  RULERUN_RETURN_IF_ERROR(partitioner.Run(*scope.graph));
  return partitioner.TakeResult();
}

}  // namespace rulerun
