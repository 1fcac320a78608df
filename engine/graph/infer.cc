#include "engine/graph/infer.h"

#include <exception>

#include "engine/graph/graph_builder.h"
#include "engine/graph/proto.h"

namespace rulerun {
namespace {

// Larger tensors are data, not shapes; handing them over would copy them.
constexpr int64_t kLargestData = 4096;

bool IsShapeNumber(DataType type) { return type == DataType::kInt64 || type == DataType::kInt32; }

}  // namespace

// --- Scope

const onnx::TypeProto* Scope::Type(ValueId id) {
  if (id == kNoValue) return nullptr;
  auto& slot = types_[id];
  if (slot == nullptr) {
    slot = std::make_unique<onnx::TypeProto>();
    ToProto(graph_.TypeOf(id), slot.get());
  }
  return slot->value_case() == onnx::TypeProto::VALUE_NOT_SET ? nullptr : slot.get();
}

const onnx::TensorShapeProto* Scope::Numbers(ValueId id) {
  if (id == kNoValue) return nullptr;
  const auto known = numbers_.find(id);
  if (known != numbers_.end()) return &known->second;
  const Tensor* constant = graph_.Constant(id);
  if (constant == nullptr || !IsShapeNumber(constant->type()) || constant->rank() > 1) return nullptr;
  if (constant->count() > kLargestData) return nullptr;
  onnx::TensorShapeProto numbers;
  for (int64_t i = 0; i < constant->count(); ++i) numbers.add_dim()->set_dim_value(ElementAsInt(*constant, i));
  return &(numbers_[id] = std::move(numbers));
}

const onnx::TensorProto* Scope::Data(ValueId id) {
  if (id == kNoValue) return nullptr;
  const auto known = data_.find(id);
  if (known != data_.end()) return known->second.get();
  auto& slot = data_[id];
  if (const Tensor* constant = graph_.Constant(id)) {
    const bool shape_like = constant->type() == DataType::kInt64 && constant->rank() == 1;
    if (constant->count() > kLargestData && !shape_like) return nullptr;
    slot = std::make_unique<onnx::TensorProto>();
    ToProto(*constant, slot.get());
    return slot.get();
  }
  const auto numbers = numbers_.find(id);
  const ValueType& type = graph_.TypeOf(id);
  if (numbers == numbers_.end() || !IsShapeNumber(type.element)) {
    data_.erase(id);  // may become known later
    return nullptr;
  }
  slot = std::make_unique<onnx::TensorProto>();
  slot->set_data_type(static_cast<int32_t>(type.element));
  const auto& dims = numbers->second.dim();
  if (!type.shape || !type.shape->empty() || dims.size() != 1) slot->add_dims(dims.size());
  for (const auto& dim : dims) {
    if (type.element == DataType::kInt64) {
      slot->add_int64_data(dim.dim_value());
    } else {
      slot->add_int32_data(static_cast<int32_t>(dim.dim_value()));
    }
  }
  return slot.get();
}

// --- NodeContext

// A subgraph attribute whose outputs' types the node asks for.
class NodeContext::Subgraph final : public onnx::GraphInferencer {
 public:
  Subgraph(NodeContext& owner, Graph& graph) : owner_(owner), graph_(graph) {}

  std::vector<const onnx::TypeProto*> doInferencing(const std::vector<const onnx::TypeProto*>& input_types,
                                                    const std::vector<const onnx::TensorProto*>&) override {
    SetInputTypes(Inputs(input_types.size()), input_types);
    const Status resolved = owner_.resolve_(graph_);
    if (!resolved.ok()) {
      if (!owner_.subgraph_error_) owner_.subgraph_error_ = resolved.error();
      throw onnx::InferenceError(resolved.error().message);
    }
    types_.clear();
    std::vector<const onnx::TypeProto*> result;
    for (const ValueId output : graph_.outputs()) {
      types_.push_back(std::make_unique<onnx::TypeProto>());
      ToProto(graph_.TypeOf(output), types_.back().get());
      result.push_back(types_.back().get());
    }
    return result;
  }

 private:
  // All inputs, or only those without an initializer: callers may give either.
  std::vector<ValueId> Inputs(size_t wanted) const {
    if (graph_.inputs().size() == wanted) return graph_.inputs();
    std::vector<ValueId> required;
    for (const ValueId input : graph_.inputs()) {
      if (!graph_.value(input).initializer) required.push_back(input);
    }
    if (required.size() != wanted) {
      throw onnx::InferenceError("its subgraph takes " + std::to_string(graph_.inputs().size()) + " inputs, but gets " +
                                 std::to_string(wanted));
    }
    return required;
  }

  void SetInputTypes(const std::vector<ValueId>& inputs, const std::vector<const onnx::TypeProto*>& types) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (types[i] == nullptr) continue;
      const ValueType given = ToValueType(*types[i]);
      ValueType& own = graph_.value(inputs[i]).type;
      if (own.element == DataType::kUndefined && own.other.empty()) {
        own = given;
        continue;
      }
      if (own.element != given.element && given.element != DataType::kUndefined) {
        throw onnx::InferenceError("subgraph input '" + graph_.value(inputs[i]).name + "' is declared " +
                                   std::string(Name(own.element)) + ", but gets " + std::string(Name(given.element)));
      }
      if (given.shape) MergeShape(*given.shape, &own.shape);
    }
  }

  NodeContext& owner_;
  Graph& graph_;
  std::vector<std::unique_ptr<onnx::TypeProto>> types_;
};

NodeContext::NodeContext(Scope& scope, const Node& node, std::vector<ValueId> inputs, ResolveSubgraph resolve)
    : scope_(scope),
      node_(node),
      inputs_(std::move(inputs)),
      outputs_(node.outputs.size()),
      resolve_(std::move(resolve)) {}

NodeContext::~NodeContext() = default;

const onnx::AttributeProto* NodeContext::getAttribute(const std::string& name) const {
  const auto made = attributes_.find(name);
  if (made != attributes_.end()) return &made->second;
  const auto found = node_.attributes.find(name);
  if (found == node_.attributes.end()) return nullptr;
  onnx::AttributeProto& proto = attributes_[name];
  ToProto(name, found->second, &proto);
  return &proto;
}

const onnx::TypeProto* NodeContext::getInputType(size_t index) const {
  return index < inputs_.size() ? scope_.Type(inputs_[index]) : nullptr;
}

const onnx::TensorProto* NodeContext::getInputData(size_t index) const {
  return index < inputs_.size() ? scope_.Data(inputs_[index]) : nullptr;
}

const onnx::SparseTensorProto* NodeContext::getInputSparseData(size_t) const { return nullptr; }

const onnx::TensorShapeProto* NodeContext::getSymbolicInput(size_t) const { return nullptr; }

onnx::TypeProto* NodeContext::getOutputType(size_t index) {
  if (index >= outputs_.size()) {
    throw onnx::InferenceError("output " + std::to_string(index) + " is asked for, but the node has " +
                               std::to_string(outputs_.size()));
  }
  return &outputs_[index];
}

onnx::GraphInferencer* NodeContext::getGraphAttributeInferencer(const std::string& name) {
  const auto found = node_.attributes.find(name);
  const auto* graph = found == node_.attributes.end() ? nullptr : std::get_if<GraphRef>(&found->second);
  if (graph == nullptr) throw onnx::InferenceError("attribute '" + name + "' holds no graph");
  subgraphs_.push_back(std::make_unique<Subgraph>(*this, **graph));
  return subgraphs_.back().get();
}

std::string NodeContext::getDisplayName() const { return Describe(node_); }

// --- numbers

namespace {

class NumbersContext final : public onnx::DataPropagationContext {
 public:
  NumbersContext(Scope& scope, const Node& node) : scope_(scope), node_(node) {}

  const onnx::AttributeProto* getAttribute(const std::string& name) const override {
    const auto found = node_.attributes.find(name);
    if (found == node_.attributes.end()) return nullptr;
    onnx::AttributeProto& proto = attributes_[name];
    if (proto.name().empty()) ToProto(name, found->second, &proto);
    return &proto;
  }
  size_t getNumInputs() const override { return node_.inputs.size(); }
  const onnx::TypeProto* getInputType(size_t index) const override { return scope_.Type(node_.input(index)); }
  size_t getNumOutputs() const override { return node_.outputs.size(); }
  const onnx::TypeProto* getOutputType(size_t index) const override { return scope_.Type(node_.output(index)); }
  const onnx::TensorShapeProto* getInputData(size_t index) override { return scope_.Numbers(node_.input(index)); }
  void addOutputData(size_t index, onnx::TensorShapeProto&& numbers) override {
    const ValueId output = node_.output(index);
    if (output == kNoValue || numbers.dim_size() == 0) return;
    for (const auto& dim : numbers.dim()) {
      if (!dim.has_dim_value()) return;
    }
    scope_.SetNumbers(output, std::move(numbers));
  }

 private:
  Scope& scope_;
  const Node& node_;
  mutable std::map<std::string, onnx::AttributeProto> attributes_;
};

}  // namespace

void PropagateNumbers(Scope& scope, const Node& node, const onnx::OpSchema& schema) {
  if (!schema.has_data_propagation_function() || node.output(0) == kNoValue) return;
  if (!IsShapeNumber(scope.graph().value(node.output(0)).type.element)) return;
  NumbersContext context(scope, node);
  try {
    schema.GetDataPropagationFunction()(context);
  } catch (const std::exception&) {
    // Only a help for shapes: without it they stay unknown.
  }
}

void MergeShape(const Shape& inferred, std::optional<Shape>* known) {
  if (!known->has_value()) {
    *known = inferred;
    return;
  }
  Shape& dims = **known;
  if (dims.size() != inferred.size()) {
    known->reset();
    return;
  }
  size_t i = 0;
  for (; i < dims.size(); ++i) {
    if (inferred[i].known()) {
      if (dims[i].known() && dims[i].size != inferred[i].size) break;
      dims[i] = inferred[i];
    } else if (dims[i].unknown()) {
      dims[i].symbol = inferred[i].symbol;
    }
  }
  if (i == dims.size()) return;
  // A contradiction: keep only what both say.
  for (size_t k = 0; k < dims.size(); ++k) {
    if (!dims[k].Equals(inferred[k])) dims[k] = Dim{};
  }
}

}  // namespace rulerun
