#include "engine/graph/schema.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <memory>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <unordered_map>

#include "engine/base/text.h"
#include "engine/graph/onnx_schema.h"
#include "engine/graph/proto.h"

namespace rulerun {
namespace {

constexpr std::string_view kTensorPrefix = "tensor(";

// "tensor(float)" -> kFloat; nullopt for sequences, maps and the like.
std::optional<DataType> TensorElement(std::string_view type) {
  if (!StartsWith(type, kTensorPrefix) || !EndsWith(type, ")")) return std::nullopt;
  return ParseDataType(type.substr(kTensorPrefix.size(), type.size() - kTensorPrefix.size() - 1));
}

AttributeSchema::Kind KindOf(onnx::AttributeProto::AttributeType type) {
  using Kind = AttributeSchema::Kind;
  switch (type) {
    case onnx::AttributeProto::INT:
      return Kind::kInt;
    case onnx::AttributeProto::FLOAT:
      return Kind::kFloat;
    case onnx::AttributeProto::STRING:
      return Kind::kString;
    case onnx::AttributeProto::INTS:
      return Kind::kInts;
    case onnx::AttributeProto::FLOATS:
      return Kind::kFloats;
    case onnx::AttributeProto::STRINGS:
      return Kind::kStrings;
    case onnx::AttributeProto::TENSOR:
      return Kind::kTensor;
    case onnx::AttributeProto::GRAPH:
      return Kind::kGraph;
    default:
      return Kind::kOther;
  }
}

FormalParameter Convert(const onnx::OpSchema::FormalParameter& formal) {
  FormalParameter result;
  result.name = formal.GetName();
  const auto element = TensorElement(formal.GetTypeStr());
  result.type = element ? std::string(Name(*element)) : formal.GetTypeStr();
  result.optional = formal.GetOption() == onnx::OpSchema::Optional;
  result.variadic = formal.GetOption() == onnx::OpSchema::Variadic;
  return result;
}

AllowedTypes Allowed(const onnx::OpSchema::FormalParameter& formal) {
  AllowedTypes allowed;
  allowed.homogeneous = formal.GetIsHomogeneous();
  for (const std::string* type : formal.GetTypes()) {
    if (const auto element = TensorElement(*type)) {
      allowed.elements |= uint64_t{1} << static_cast<int>(*element);
    } else {
      allowed.other = true;
    }
  }
  return allowed;
}

AttributeSchema Convert(const onnx::OpSchema::Attribute& attribute) {
  AttributeSchema result;
  result.kind = KindOf(attribute.type);
  result.required = attribute.required;
  if (!attribute.default_value.name().empty()) {
    onnx::AttributeProto value = attribute.default_value;
    auto converted = ToAttribute(value, nullptr);
    if (converted.ok()) result.default_value = std::move(converted).value();
  }
  return result;
}

std::unique_ptr<OnnxSchema> Convert(const onnx::OpSchema& schema) {
  auto result = std::make_unique<OnnxSchema>();
  result->theirs = &schema;
  OpSchema& ours = result->ours;
  ours.op_type = schema.Name();
  ours.domain = schema.domain();
  ours.since_version = schema.SinceVersion();
  for (const auto& formal : schema.inputs()) {
    ours.inputs.push_back(Convert(formal));
    result->inputs.push_back(Allowed(formal));
  }
  for (const auto& formal : schema.outputs()) {
    ours.outputs.push_back(Convert(formal));
    result->outputs.push_back(Allowed(formal));
  }
  ours.min_inputs = schema.min_input();
  ours.min_outputs = schema.min_output();
  for (const auto& [name, attribute] : schema.attributes()) ours.attributes.emplace(name, Convert(attribute));
  for (const auto& constraint : schema.typeConstraintParams()) {
    std::vector<DataType>& types = ours.types[constraint.type_param_str];
    for (const std::string& type : constraint.allowed_type_strs) {
      if (const auto element = TensorElement(type)) types.push_back(*element);
    }
  }
  ours.has_function = schema.HasFunction() || schema.HasContextDependentFunction();
  ours.deterministic = schema.GetNodeDeterminism() != onnx::OpSchema::NodeDeterminism::NonDeterministic;
  return result;
}

// Converted schemas, made when first asked for; ONNX's own never move once registered.
class SchemaCache {
 public:
  const OnnxSchema* Get(const onnx::OpSchema& schema) {
    {
      const std::shared_lock lock(mutex_);
      const auto found = schemas_.find(&schema);
      if (found != schemas_.end()) return found->second.get();
    }
    auto converted = Convert(schema);
    const std::unique_lock lock(mutex_);
    return schemas_.try_emplace(&schema, std::move(converted)).first->second.get();
  }

 private:
  std::shared_mutex mutex_;
  std::unordered_map<const onnx::OpSchema*, std::unique_ptr<OnnxSchema>> schemas_;
};

const onnx::OpSchema* Registered(std::string_view domain, std::string_view op_type, int opset_version) {
  const std::string key(op_type);
  const std::string in_domain(NormalDomain(domain));
  // ONNX's lookup fills its tables on the first call; a lock keeps that to one thread.
  static std::mutex& mutex = *new std::mutex;
  const std::lock_guard lock(mutex);
  return onnx::OpSchemaRegistry::Schema(key, opset_version, in_domain);
}

AllowedTypes Allowed(const OpSchema& schema, const FormalParameter& formal) {
  AllowedTypes allowed;
  // ORT's heterogeneous variadic parameters do not show in exported schemas: none of a list need agree with the others.
  allowed.homogeneous = !formal.variadic;
  const auto constraint = schema.types.find(formal.type);
  if (constraint != schema.types.end()) {
    for (const DataType type : constraint->second) allowed.elements |= uint64_t{1} << static_cast<int>(type);
  } else if (const auto element = ParseDataType(formal.type)) {
    allowed.elements = uint64_t{1} << static_cast<int>(*element);
  }
  // A constraint without one dense type, or a type spelled in ONNX's way: let everything pass.
  allowed.other = allowed.elements == 0;
  return allowed;
}

}  // namespace

DataType AllowedTypes::only() const { return static_cast<DataType>(std::countr_zero(elements)); }

const OnnxSchema* FindOnnxSchema(std::string_view domain, std::string_view op_type, int opset_version) {
  static SchemaCache& cache = *new SchemaCache;
  const onnx::OpSchema* schema = Registered(domain, op_type, opset_version);
  if (schema == nullptr) return nullptr;
  // A deprecated operator that still has a body means what the body says; ONNX Runtime takes those too.
  const bool has_body = schema->HasFunction() || schema->HasContextDependentFunction();
  if (schema->Deprecated() && !has_body) return nullptr;
  return cache.Get(*schema);
}

std::vector<AllowedTypes> AllowedInputs(const OpSchema& schema) {
  std::vector<AllowedTypes> allowed;
  for (const FormalParameter& formal : schema.inputs) allowed.push_back(Allowed(schema, formal));
  return allowed;
}

std::vector<AllowedTypes> AllowedOutputs(const OpSchema& schema) {
  std::vector<AllowedTypes> allowed;
  for (const FormalParameter& formal : schema.outputs) allowed.push_back(Allowed(schema, formal));
  return allowed;
}

void ExternalSchemas::Add(OpSchema schema) {
  std::string key = schema.domain + "." + schema.op_type;
  schemas_.insert_or_assign(std::move(key), std::move(schema));
}

const OpSchema* ExternalSchemas::Find(std::string_view domain, std::string_view op_type) const {
  std::string key;
  key.reserve(domain.size() + 1 + op_type.size());
  key.append(domain).append(".").append(op_type);
  const auto found = schemas_.find(key);
  return found == schemas_.end() ? nullptr : &found->second;
}

const OpSchema* FindSchema(const ExternalSchemas& external, std::string_view domain, std::string_view op_type,
                           int opset_version) {
  if (const OnnxSchema* found = FindOnnxSchema(domain, op_type, opset_version)) return &found->ours;
  return external.Find(NormalDomain(domain), op_type);
}

std::vector<int> SinceVersions(std::string_view domain, std::string_view op_type) {
  std::vector<int> versions;
  int version = std::numeric_limits<int>::max();
  while (const onnx::OpSchema* schema = Registered(domain, op_type, version)) {
    versions.insert(versions.begin(), schema->SinceVersion());
    version = schema->SinceVersion() - 1;
  }
  return versions;
}

const std::vector<std::string>& OnnxOperators() {
  static const auto& names = *new std::vector<std::string>([] {
    std::set<std::string> all;
    for (const onnx::OpSchema& schema : onnx::OpSchemaRegistry::get_all_schemas()) {
      all.insert(schema.domain().empty() ? schema.Name() : schema.domain() + "." + schema.Name());
    }
    return std::vector<std::string>(all.begin(), all.end());
  }());
  return names;
}

}  // namespace rulerun
