#include "engine/report/canonical.h"

#include <algorithm>
#include <map>

#include "engine/base/text.h"

namespace rulerun {
namespace {

constexpr int64_t kShownElements = 4;

// FNV-1a over the parts put in, each with its length.
class Hash {
 public:
  Hash& Add(std::string_view bytes) {
    Number(bytes.size());
    for (const char c : bytes) Byte(static_cast<unsigned char>(c));
    return *this;
  }
  Hash& Number(uint64_t number) {
    for (int shift = 0; shift < 64; shift += 8) Byte(static_cast<unsigned char>(number >> shift));
    return *this;
  }
  uint64_t value() const { return value_; }

 private:
  void Byte(unsigned char byte) { value_ = (value_ ^ byte) * 0x100000001b3ULL; }

  uint64_t value_ = 0xcbf29ce484222325ULL;
};

uint64_t HashOf(const Tensor& tensor) {
  Hash hash;
  hash.Add("tensor").Number(static_cast<uint64_t>(tensor.type()));
  hash.Number(tensor.dims().size());
  for (const int64_t dim : tensor.dims()) hash.Number(static_cast<uint64_t>(dim));
  if (tensor.type() == DataType::kString) {
    for (const std::string& text : tensor.strings()) hash.Add(text);
  } else {
    hash.Add({reinterpret_cast<const char*>(tensor.raw()), tensor.bytes()});
  }
  return hash.value();
}

std::string TextOf(const Tensor& tensor) {
  std::string text = std::string(Name(tensor.type())) + ToString(ToShape(tensor.dims()));
  if (tensor.count() > kShownElements || tensor.type() == DataType::kString) return text;
  std::vector<std::string> values;
  for (int64_t i = 0; i < tensor.count(); ++i) {
    const double value = ElementAsDouble(tensor, i);
    values.push_back(IsFloat(tensor.type()) ? FormatFloat(static_cast<float>(value)) : FormatDouble(value));
  }
  return text + "={" + Join(values, ", ") + "}";
}

using Scope = std::map<std::string, uint64_t>;  // what values of enclosing graphs are

class Canonicalizer {
 public:
  Canonicalizer(const Graph& graph, const ExternalSchemas& schemas, const Scope* outer)
      : graph_(graph), schemas_(schemas), inner_(outer != nullptr) {
    if (outer != nullptr) scope_ = *outer;
  }

  CanonicalGraph Run() {
    for (size_t i = 0; i < graph_.value_count(); ++i) {
      const Value& value = graph_.value(static_cast<ValueId>(i));
      if (value.initializer) Define(value.name, HashOf(*value.initializer), TextOf(*value.initializer));
    }
    for (size_t i = 0; i < graph_.inputs().size(); ++i) {
      const Value& value = graph_.value(graph_.inputs()[i]);
      if (value.initializer) continue;
      const std::string key = inner_ ? "in" + std::to_string(i) : value.name;
      Define(value.name, Hash().Add("input").Add(key).value(), "%" + key);
    }
    for (const NodeIndex index : TopologicalOrder(graph_)) Visit(*graph_.node(index));
    for (const ValueId id : graph_.outputs()) result_.outputs.emplace_back(graph_.value(id).name, HashOfValue(id));
    return std::move(result_);
  }

 private:
  void Define(const std::string& name, uint64_t hash, std::string text) {
    scope_[name] = hash;
    texts_[name] = std::move(text);
  }

  uint64_t HashOfValue(ValueId id) const {
    if (id == kNoValue) return Hash().Add("none").value();
    const auto found = scope_.find(graph_.value(id).name);
    return found == scope_.end() ? Hash().Add("undefined").value() : found->second;
  }

  std::string TextOfValue(ValueId id) const {
    if (id == kNoValue) return "-";
    const auto found = texts_.find(graph_.value(id).name);
    return found == texts_.end() ? "%outer" : found->second;
  }

  void Visit(const Node& node) {
    std::vector<ValueId> inputs = node.inputs;
    while (!inputs.empty() && inputs.back() == kNoValue) inputs.pop_back();
    Hash hash;
    hash.Add("node").Add(node.Op());
    std::vector<std::string> attributes;
    for (const auto& [name, attribute] : node.attributes) {
      if (IsSchemaDefault(graph_, schemas_, node, name, attribute)) continue;
      hash.Add(name).Add(Key(attribute));
      attributes.push_back(name + "=" + ToString(attribute));
    }
    std::vector<std::string> operands;
    hash.Number(inputs.size());
    for (const ValueId input : inputs) {
      hash.Number(HashOfValue(input));
      operands.push_back(TextOfValue(input));
    }
    hash.Number(static_cast<uint64_t>(
        std::count_if(node.outputs.begin(), node.outputs.end(), [](ValueId id) { return id != kNoValue; })));
    std::string text = node.Op() + "(" + Join(operands, ", ") + ")";
    if (!attributes.empty()) text += " <" + Join(attributes, ", ") + ">";
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] == kNoValue) continue;
      Define(graph_.value(node.outputs[i]).name, Hash().Number(hash.value()).Number(i).value(), node.op_type + "()");
    }
    result_.nodes.push_back({hash.value(), std::move(text)});
  }

  // Bytes that two attributes share only if they are the same.
  std::string Key(const Attribute& attribute) const {
    if (const auto* tensor = std::get_if<Tensor>(&attribute)) return std::to_string(HashOf(*tensor));
    if (const auto* graph = std::get_if<GraphRef>(&attribute)) return SubgraphKey(**graph);
    if (const auto* graphs = std::get_if<std::vector<GraphRef>>(&attribute)) {
      std::string key;
      for (const GraphRef& graph : *graphs) key += SubgraphKey(*graph) + ",";
      return key;
    }
    if (const auto* opaque = std::get_if<OpaqueAttribute>(&attribute)) return opaque->bytes;
    return std::to_string(attribute.index()) + ToString(attribute);
  }

  std::string SubgraphKey(const Graph& graph) const {
    return std::to_string(Canonicalizer(graph, schemas_, &scope_).Run().Digest());
  }

  const Graph& graph_;
  const ExternalSchemas& schemas_;
  bool inner_;
  Scope scope_;
  std::map<std::string, std::string> texts_;
  CanonicalGraph result_;
};

// Nodes of `from` that have no partner in `other`.
void Unpaired(const CanonicalGraph& from, const CanonicalGraph& other, const char* sign, size_t limit,
              std::vector<std::string>& lines) {
  std::map<uint64_t, int> left;
  for (const CanonicalNode& node : other.nodes) ++left[node.hash];
  size_t told = 0;
  for (const CanonicalNode& node : from.nodes) {
    int& partners = left[node.hash];
    if (partners > 0) {
      --partners;
    } else if (told++ < limit) {
      lines.push_back(sign + node.text);
    }
  }
}

}  // namespace

bool IsSchemaDefault(const Graph& graph, const ExternalSchemas& schemas, const Node& node, const std::string& name,
                     const Attribute& attribute) {
  const OpSchema* schema = FindSchema(schemas, node.domain, node.op_type, std::max(graph.Opset(node.domain), 1));
  if (schema == nullptr) return false;
  const auto found = schema->attributes.find(name);
  return found != schema->attributes.end() && found->second.default_value &&
         SameAttribute(*found->second.default_value, attribute);
}

uint64_t CanonicalGraph::Digest() const {
  std::vector<uint64_t> hashes;
  for (const CanonicalNode& node : nodes) hashes.push_back(node.hash);
  std::sort(hashes.begin(), hashes.end());
  Hash hash;
  for (const uint64_t node : hashes) hash.Number(node);
  for (const auto& [name, value] : outputs) hash.Number(value);
  return hash.value();
}

CanonicalGraph Canonicalize(const Graph& graph, const ExternalSchemas& schemas) {
  return Canonicalizer(graph, schemas, nullptr).Run();
}

std::vector<std::string> Differences(const CanonicalGraph& expected, const CanonicalGraph& found, size_t limit) {
  std::vector<std::string> lines;
  Unpaired(expected, found, "missing: ", limit, lines);
  Unpaired(found, expected, "too much: ", limit, lines);
  if (expected.outputs.size() != found.outputs.size()) {
    lines.push_back("outputs: " + std::to_string(expected.outputs.size()) + " expected, " +
                    std::to_string(found.outputs.size()) + " found");
    return lines;
  }
  for (size_t i = 0; i < expected.outputs.size(); ++i) {
    const auto& [name, value] = expected.outputs[i];
    if (name != found.outputs[i].first) {
      lines.push_back("output '" + name + "' expected, '" + found.outputs[i].first + "' found");
    } else if (lines.empty() && value != found.outputs[i].second) {
      lines.push_back("output '" + name + "' is another value");
    }
  }
  return lines;
}

}  // namespace rulerun
