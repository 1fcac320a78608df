// What a graph from a file must satisfy before anything else looks at it; and the opsets of its model.
#include <onnx/defs/schema.h>

#include <algorithm>
#include <set>
#include <unordered_set>

#include "engine/base/codes.h"
#include "engine/base/text.h"
#include "engine/graph/graph_builder.h"
#include "engine/graph/proto.h"

namespace rulerun {
namespace {

// The versions of ai.onnx that ONNX Runtime 1.30 supports.

bool BringsDomain(const ExternalSchemas& schemas, const std::string& domain) {
  const auto& all = schemas.all();
  const auto found = all.lower_bound(domain + ".");
  return found != all.end() && found->second.domain == domain;
}

Status CheckOnnxOpset(int64_t version, const std::string& file) {
  if (version >= kOldestOpset && version <= kNewestOpset) return {};
  return Error{Code::kBadOpset,
               "the model imports version " + std::to_string(version) + " of ai.onnx; versions " +
                   std::to_string(kOldestOpset) + " to " + std::to_string(kNewestOpset) + " are supported",
               file, "Convert the model with onnx.version_converter.convert_version."};
}

}  // namespace

void CollectDomains(const onnx::GraphProto& graph, std::set<std::string>* domains) {
  for (const auto& node : graph.node()) {
    domains->insert(std::string(NormalDomain(node.domain())));
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_g()) CollectDomains(attribute.g(), domains);
      for (const auto& subgraph : attribute.graphs()) CollectDomains(subgraph, domains);
    }
  }
}

Result<OpsetMap> ReadOpsets(const onnx::ModelProto& model, const ExternalSchemas& schemas, const std::string& file) {
  if (model.opset_import_size() == 0) {
    return Error{Code::kBadOpset, "the model imports no opset", file, "Every model must say which opset it uses."};
  }
  OpsetMap opsets;
  for (const auto& import : model.opset_import()) {
    const std::string domain(NormalDomain(import.domain()));
    if (domain.empty()) RULERUN_RETURN_IF_ERROR(CheckOnnxOpset(import.version(), file));
    constexpr int64_t kHighest = 1 << 30;
    opsets[domain] = static_cast<int>(std::clamp(import.version(), int64_t{0}, kHighest));
  }
  std::set<std::string> used;
  CollectDomains(model.graph(), &used);
  const auto known = onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map();
  for (const std::string& domain : used) {
    if (opsets.contains(domain)) continue;
    const auto range = known.find(domain);
    if (BringsDomain(schemas, domain)) {
      opsets[domain] = 1;
    } else if (range != known.end()) {
      opsets[domain] = domain.empty() ? static_cast<int>(kNewestOpset) : range->second.second;
    } else {
      return Error{Code::kBadOpset, "operators of domain '" + domain + "' are used, but the model does not import it",
                   file, "Add the domain to opset_import, and a rule set that knows its operators."};
    }
  }
  return opsets;
}

Status GraphBuilder::CheckOutputs(const Graph& graph) const {
  for (const ValueId id : graph.outputs()) {
    const Value& output = graph.value(id);
    if (output.producer != kNoNode || output.graph_input || output.initializer) continue;
    return At("output '" + output.name + "'", "nothing in its graph computes it",
              graph.parent() == nullptr ? "Remove the output, or add the node that makes it."
                                        : "A subgraph cannot return a value of the graph around it: copy it first.");
  }
  return {};
}

Status GraphBuilder::CheckReads(const Graph& graph) const {
  for (size_t i = 0; i < graph.value_count(); ++i) {
    const Value& value = graph.value(static_cast<ValueId>(i));
    if (value.producer != kNoNode || value.graph_input || value.initializer || value.uses.empty()) continue;
    return At(Describe(*graph.node(value.uses.front().node)), "reads '" + value.name + "', which nothing provides",
              "A node, an input or an initializer must have that name.");
  }
  return {};
}

Status GraphBuilder::CheckNames(const Graph& graph) const {
  std::unordered_set<std::string_view> names;
  for (NodeIndex index = 0; index < graph.node_limit(); ++index) {
    const std::string& name = graph.node(index)->name;
    if (!name.empty() && !names.insert(name).second) {
      Error error =
          At("node '" + name + "'", "two nodes have the same name", "Rename one of them, or leave both empty.");
      error.code = Code::kDuplicateNodeName;
      return error;
    }
  }
  return {};
}

// Every node must come after its producers in some order: takes away nodes whose producers are all gone.
Status GraphBuilder::CheckOrder(const Graph& graph) const {
  std::vector<int> waits(static_cast<size_t>(graph.node_limit()), 0);
  std::vector<NodeIndex> ready;
  for (NodeIndex index = 0; index < graph.node_limit(); ++index) {
    waits[static_cast<size_t>(index)] = graph.InputEdgeCount(*graph.node(index));
    if (waits[static_cast<size_t>(index)] == 0) ready.push_back(index);
  }
  size_t done = 0;
  while (!ready.empty()) {
    const Node& node = *graph.node(ready.back());
    ready.pop_back();
    ++done;
    for (const ValueId output : node.outputs) {
      if (output == kNoValue) continue;
      for (const Use& use : graph.value(output).uses) {
        if (--waits[static_cast<size_t>(use.node)] == 0) ready.push_back(use.node);
      }
    }
  }
  if (done == graph.node_count()) return {};
  const auto stuck = std::find_if(waits.begin(), waits.end(), [](int wait) { return wait > 0; });
  return At(Describe(*graph.node(static_cast<NodeIndex>(stuck - waits.begin()))), "is part of a cycle, or behind one",
            "The nodes of a graph must not depend on their own outputs.");
}

}  // namespace rulerun
