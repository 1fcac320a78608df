// A node against its schema. For the .cc files of this folder only.
#ifndef RULERUN_ENGINE_GRAPH_NODE_CHECK_H_
#define RULERUN_ENGINE_GRAPH_NODE_CHECK_H_

#include <map>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/graph/graph.h"
#include "engine/graph/infer.h"
#include "engine/graph/onnx_schema.h"
#include "engine/graph/schema.h"

namespace rulerun {

struct SchemaView {
  const OpSchema* ours = nullptr;
  const onnx::OpSchema* onnx = nullptr;  // nullptr for one that a rule set brought
  const std::vector<AllowedTypes>* inputs = nullptr;
  const std::vector<AllowedTypes>* outputs = nullptr;
};

// Type variable of a schema -> the type it stands for in one node.
using TypeBindings = std::map<std::string, ValueType, std::less<>>;

// What no one knows, and what may have been meant.
Error UnknownOperator(const Graph& graph, const Node& node, const ExternalSchemas& external);
// Numbers of inputs and outputs, omitted ones, attributes.
Status CheckNode(const Node& node, const OpSchema& schema);
// Every input has a type its schema allows, and inputs that must agree do.
Status CheckInputTypes(Scope& scope, const Node& node, const SchemaView& schema, TypeBindings* bindings);

// Whether two types agree, shapes aside; and how a type is called in a message.
bool SameKind(const ValueType& a, const ValueType& b);
std::string KindName(const ValueType& type);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_GRAPH_NODE_CHECK_H_
