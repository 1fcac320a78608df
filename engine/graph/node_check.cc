#include "engine/graph/node_check.h"

#include <algorithm>

#include "engine/base/codes.h"
#include "engine/base/text.h"
#include "engine/graph/graph_builder.h"
#include "engine/graph/proto.h"

namespace rulerun {
namespace {

Error Bad(Code code, const Node& node, std::string message, std::string remedy) {
  return {code, node.Op() + " " + std::move(message), Describe(node), std::move(remedy)};
}

// ONNX's interned name of a type ("seq(tensor(float))"), or nullptr where it makes no sense of it.
const std::string* TypeString(const ValueType& type) {
  onnx::TypeProto proto;
  ToProto(type, &proto);
  try {
    return onnx::Utils::DataTypeUtils::ToType(proto);
  } catch (const std::exception&) {
    return nullptr;
  }
}

std::string Names(const AllowedTypes& allowed) {
  std::vector<std::string> names;
  for (size_t i = 1; i <= DataTypeNames().size(); ++i) {
    if (allowed.Has(static_cast<DataType>(i))) names.push_back(DataTypeNames()[i - 1]);
  }
  if (allowed.other) names.emplace_back("other kinds");
  return Join(names, ", ");
}

AttributeSchema::Kind KindOfValue(const Attribute& attribute) {
  using Kind = AttributeSchema::Kind;
  constexpr Kind kKinds[] = {Kind::kInt,     Kind::kFloat,  Kind::kString, Kind::kInts,  Kind::kFloats,
                             Kind::kStrings, Kind::kTensor, Kind::kGraph,  Kind::kOther, Kind::kOther};
  static_assert(std::size(kKinds) == std::variant_size_v<Attribute>);
  return kKinds[attribute.index()];
}

std::string Range(int min, size_t formal, bool variadic) {
  if (variadic) return "at least " + std::to_string(min);
  if (static_cast<size_t>(min) == formal) return std::to_string(min);
  return std::to_string(min) + " to " + std::to_string(formal);
}

// `what` is "input" or "output".
Status CheckParameters(const Node& node, const std::vector<ValueId>& actual, const std::vector<FormalParameter>& formal,
                       int min, const std::string& what) {
  const bool variadic = !formal.empty() && formal.back().variadic;
  if (actual.size() < static_cast<size_t>(min) || (!variadic && actual.size() > formal.size())) {
    return Bad(
        Code::kNodeArity, node,
        "has " + std::to_string(actual.size()) + " " + what + "s, but takes " + Range(min, formal.size(), variadic),
        "Compare the node with the operator's documentation.");
  }
  for (size_t i = 0; i < std::min(actual.size(), formal.size()); ++i) {
    if (actual[i] == kNoValue && !formal[i].optional && !formal[i].variadic) {
      return Bad(Code::kNodeArity, node, "must not omit " + what + " '" + formal[i].name + "'",
                 "Give the " + what + ".");
    }
  }
  return {};
}

Status CheckAttributes(const Node& node, const OpSchema& schema) {
  for (const auto& [name, value] : node.attributes) {
    const auto found = schema.attributes.find(name);
    if (found == schema.attributes.end()) {
      if (schema.unchecked_attributes || StartsWith(name, "__")) continue;  // "__": someone's private mark
      const bool ours = std::find(node.defaulted.begin(), node.defaulted.end(), name) != node.defaulted.end();
      if (ours) continue;  // a pass wrote it knowingly
      std::vector<std::string> known;
      for (const auto& [candidate, unused] : schema.attributes) known.push_back(candidate);
      return Bad(Code::kNodeAttribute, node, "has no attribute '" + name + "'" + DidYouMean(name, known),
                 "Remove the attribute, or import the opset that has it.");
    }
    if (found->second.kind != KindOfValue(value) && found->second.kind != AttributeSchema::Kind::kOther) {
      return Bad(Code::kNodeAttribute, node, "has attribute '" + name + "' of the wrong kind",
                 "Compare it with the documentation.");
    }
  }
  for (const auto& [name, attribute] : schema.attributes) {
    if (attribute.required && !node.attributes.contains(name)) {
      return Bad(Code::kNodeAttribute, node, "lacks its attribute '" + name + "'", "Add the attribute.");
    }
  }
  return {};
}

bool Allows(const ValueType& type, const AllowedTypes& allowed, const onnx::OpSchema* schema, size_t formal) {
  if (type.other.empty()) return allowed.Has(type.element) || (schema == nullptr && allowed.other);
  if (schema == nullptr) return allowed.other;
  const std::string* text = TypeString(type);
  return text != nullptr && schema->inputs()[formal].GetTypes().count(text) > 0;
}

}  // namespace

Error UnknownOperator(const Graph& graph, const Node& node, const ExternalSchemas& external) {
  const std::vector<int> versions = SinceVersions(node.domain, node.op_type);
  const int opset = graph.Opset(node.domain);
  if (!versions.empty()) {
    return Bad(Code::kNotInOpset, node,
               "is not in opset " + std::to_string(opset) + " of its domain; ONNX has it since version " +
                   std::to_string(versions.front()),
               "Convert the model to an opset that has it.");
  }
  // What may have been meant: a name of the same domain.
  std::vector<std::string> known;
  for (const std::string& name : OnnxOperators()) {
    const size_t dot = name.rfind('.');
    const std::string_view domain =
        dot == std::string::npos ? std::string_view() : std::string_view(name).substr(0, dot);
    if (domain == node.domain) known.push_back(dot == std::string::npos ? name : name.substr(dot + 1));
  }
  for (const auto& [name, schema] : external.all()) {
    if (schema.domain == node.domain) known.push_back(schema.op_type);
  }
  return Bad(Code::kNoSuchOperator, node, "is not a registered operator" + DidYouMean(node.op_type, known),
             "Correct its name or domain, or use a rule set that has its schema.");
}

Status CheckNode(const Node& node, const OpSchema& schema) {
  RULERUN_RETURN_IF_ERROR(CheckParameters(node, node.inputs, schema.inputs, schema.min_inputs, "input"));
  RULERUN_RETURN_IF_ERROR(CheckParameters(node, node.outputs, schema.outputs, schema.min_outputs, "output"));
  return CheckAttributes(node, schema);
}

Status CheckInputTypes(Scope& scope, const Node& node, const SchemaView& schema, TypeBindings* bindings) {
  if (schema.ours->inputs.empty()) return {};
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i] == kNoValue) continue;
    const ValueType& type = scope.graph().TypeOf(node.inputs[i]);
    if (type.element == DataType::kUndefined && type.other.empty()) continue;
    const std::string& name = scope.graph().value(node.inputs[i]).name;
    const size_t formal = std::min(i, schema.ours->inputs.size() - 1);
    const AllowedTypes& allowed = (*schema.inputs)[formal];
    if (!Allows(type, allowed, schema.onnx, formal)) {
      return Bad(Code::kNodeType, node,
                 "cannot take input '" + name + "' of type " + KindName(type) + "; it takes " + Names(allowed),
                 "Convert the input first.");
    }
    if (!allowed.homogeneous) continue;
    const auto [bound, added] = bindings->try_emplace(schema.ours->inputs[formal].type, type);
    if (!added && !SameKind(bound->second, type)) {
      return Bad(Code::kNodeType, node,
                 "needs inputs of one type, but gets " + KindName(bound->second) + " and " + KindName(type) + " ('" +
                     name + "')",
                 "Convert one of the inputs.");
    }
  }
  return {};
}

bool SameKind(const ValueType& a, const ValueType& b) {
  if (a.other.empty() && b.other.empty()) return a.element == b.element;
  if (a.other == b.other) return true;
  const std::string* left = TypeString(a);
  return left != nullptr && left == TypeString(b);
}

std::string KindName(const ValueType& type) {
  if (type.other.empty()) return std::string(Name(type.element));
  const std::string* text = TypeString(type);
  return text == nullptr ? "an unknown kind" : *text;
}

}  // namespace rulerun
