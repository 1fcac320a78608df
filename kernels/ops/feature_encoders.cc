// Of ai.onnx.ml: LabelEncoder, OneHotEncoder and ArrayFeatureExtractor.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <unordered_map>

#include "kernels/ops/op.h"

namespace rulerun {
namespace {

constexpr std::string_view kMl = "ai.onnx.ml";

std::vector<std::string> StringsOr(const AttributeMap& attributes, std::string_view name) {
  const auto found = attributes.find(name);
  const auto* strings = found == attributes.end() ? nullptr : std::get_if<std::vector<std::string>>(&found->second);
  return strings == nullptr ? std::vector<std::string>() : *strings;
}

// A list that an operator has as NAME_strings, NAME_int64s, NAME_floats or NAME_tensor; an empty tensor if as none.
Tensor ReadList(const AttributeMap& attributes, const std::string& name) {
  if (const auto found = attributes.find(name + "_tensor"); found != attributes.end()) {
    if (const auto* tensor = std::get_if<Tensor>(&found->second)) return *tensor;
  }
  if (auto strings = StringsOr(attributes, name + "_strings"); !strings.empty()) {
    const auto count = static_cast<int64_t>(strings.size());
    return {{count}, std::move(strings)};
  }
  if (const auto ints = IntsOr(attributes, name + "_int64s", {}); !ints.empty()) return Tensor::Vector(ints);
  const auto floats = FloatsOr(attributes, name + "_floats", {});
  return floats.empty() ? Tensor() : Tensor::Vector(floats);
}

// Equal elements, and only those, have equal keys; NaN equals NaN.
std::string KeyOf(const Tensor& tensor, int64_t i) {
  if (tensor.type() == DataType::kString) return tensor.strings()[static_cast<size_t>(i)];
  if (IsInteger(tensor.type()) || tensor.type() == DataType::kBool) return std::to_string(ElementAsInt(tensor, i));
  const double value = ElementAsDouble(tensor, i);
  if (std::isnan(value)) return "nan";
  const double plain = value == 0 ? 0 : value;  // no negative zero
  std::string bytes(sizeof(plain), '\0');
  std::memcpy(bytes.data(), &plain, sizeof(plain));
  return bytes;
}

struct Encoding {
  std::unordered_map<std::string, int64_t> index;  // of a value
  DataType key_type = DataType::kUndefined;
  Tensor values;
  Tensor fallback;  // one element
};

Tensor Fallback(const AttributeMap& attributes, DataType type) {
  if (const auto found = attributes.find("default_tensor"); found != attributes.end()) {
    if (const auto* tensor = std::get_if<Tensor>(&found->second); tensor != nullptr && tensor->count() == 1)
      return *tensor;
  }
  if (type == DataType::kString) return {{}, {StringOr(attributes, "default_string", "_Unused")}};
  if (type == DataType::kInt64) return Tensor::Scalar(IntOr(attributes, "default_int64", -1));
  if (type == DataType::kFloat) return Tensor::Scalar(FloatOr(attributes, "default_float", -0.0f));
  return {type, {}};
}

// `count` numbers from 0 on.
Tensor Numbers(int64_t count) {
  Tensor numbers(DataType::kInt64, {count});
  for (int64_t i = 0; i < count; ++i) numbers.mutable_data<int64_t>()[i] = i;
  return numbers;
}

// Version 1 has one list, of strings, and goes from them to their numbers or back.
Result<Encoding> ReadEncoding(const KernelRequest& request) {
  const AttributeMap& attributes = *request.attributes;
  Tensor keys = ReadList(attributes, "keys");
  Encoding encoding;
  encoding.values = ReadList(attributes, "values");
  if (request.since_version == 1) {
    keys = ReadList(attributes, "classes");
    encoding.values = Numbers(keys.count());
    if (!request.input_types.empty() && request.input_types[0] == DataType::kInt64) std::swap(keys, encoding.values);
  }
  if (keys.empty() || keys.count() != encoding.values.count()) return Invalid("there are not as many values as keys");
  encoding.key_type = keys.type();
  encoding.fallback = Fallback(attributes, encoding.values.type());
  if (encoding.fallback.type() != encoding.values.type())
    return Invalid("the default has another type than the values");
  for (int64_t i = 0; i < keys.count(); ++i) encoding.index.emplace(KeyOf(keys, i), i);
  return encoding;
}

Status Encode(const Encoding& encoding, KernelContext& context) {
  RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
  if (x->type() != encoding.key_type) return Invalid("the keys have another type than the input");
  RULERUN_ASSIGN(Tensor * y, context.Output(0, encoding.values.type(), x->dims()));
  return DispatchWidth(y->type(), [&]<typename T>(TypeTag<T>) -> Status {
    for (int64_t i = 0; i < x->count(); ++i) {
      const auto found = encoding.index.find(KeyOf(*x, i));
      const bool known = found != encoding.index.end();
      MutableElements<T>(*y)[i] = known ? Elements<T>(encoding.values)[found->second] : *Elements<T>(encoding.fallback);
    }
    return {};
  });
}

Result<std::unique_ptr<Kernel>> MakeLabelEncoder(const KernelRequest& request) {
  RULERUN_ASSIGN(Encoding encoding, ReadEncoding(request));
  return MakeKernel([encoding = std::move(encoding)](KernelContext& context) { return Encode(encoding, context); });
}

// A row of zeros with a one at the category's place.
Status EncodeOneHot(const Tensor& categories, const std::unordered_map<std::string, int64_t>& index, bool zeros,
                    KernelContext& context) {
  RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
  Tensor given = *x;
  if (categories.type() == DataType::kInt64 && x->type() != DataType::kInt64) {
    given = Tensor(DataType::kInt64, x->dims());  // numbers are cut off
    for (int64_t i = 0; i < x->count(); ++i) {
      given.mutable_data<int64_t>()[i] = static_cast<int64_t>(std::clamp(ElementAsDouble(*x, i), -9e18, 9e18));
    }
  }
  if (given.type() != categories.type()) return Invalid("the categories have another type than the input");
  Dims dims = x->dims();
  dims.push_back(categories.count());
  RULERUN_ASSIGN(Tensor * y, context.Output(0, DataType::kFloat, dims));
  float* to = y->mutable_data<float>();
  std::fill_n(to, y->count(), 0.0f);
  for (int64_t i = 0; i < x->count(); ++i) {
    const auto found = index.find(KeyOf(given, i));
    if (found != index.end()) to[i * categories.count() + found->second] = 1;
    if (found == index.end() && !zeros) return Invalid("element " + std::to_string(i) + " is in no category");
  }
  return {};
}

Result<std::unique_ptr<Kernel>> MakeOneHotEncoder(const KernelRequest& request) {
  const Tensor categories = ReadList(*request.attributes, "cats");
  if (categories.empty()) return Invalid("there are no categories");
  const bool zeros = IntOr(*request.attributes, "zeros", 1) != 0;
  std::unordered_map<std::string, int64_t> index;
  for (int64_t i = 0; i < categories.count(); ++i) index.emplace(KeyOf(categories, i), i);
  return MakeKernel([=](KernelContext& context) { return EncodeOneHot(categories, index, zeros, context); });
}

// Chosen elements of every row.
Status ExtractFeatures(KernelContext& context) {
  RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
  RULERUN_ASSIGN(const Tensor* chosen, Required(context, 1));
  if (x->rank() < 1 || chosen->count() == 0) return Invalid("there is nothing to extract");
  const int64_t width = x->dims().back(), count = chosen->count();
  Dims dims = x->dims();
  if (x->rank() == 1) dims = {1, count};
  dims.back() = count;
  for (const int64_t index : chosen->values<int64_t>()) {
    if (index < 0 || index >= width) return Invalid("index " + std::to_string(index) + " is out of range");
  }
  RULERUN_ASSIGN(Tensor * y, context.Output(0, x->type(), dims));
  return DispatchWidth(y->type(), [&]<typename T>(TypeTag<T>) -> Status {
    for (int64_t i = 0; i < y->count(); ++i) {
      MutableElements<T>(*y)[i] = Elements<T>(*x)[i / count * width + chosen->data<int64_t>()[i % count]];
    }
    return {};
  });
}

}  // namespace

void Register_ops_feature_encoders(KernelRegistry& registry) {
  const Types labels = {DataType::kString, DataType::kInt64, DataType::kFloat, DataType::kDouble, DataType::kInt16};
  const Types categories = {DataType::kString, DataType::kInt64, DataType::kInt32, DataType::kFloat, DataType::kDouble};
  const Types features = {DataType::kString, DataType::kInt64, DataType::kInt32, DataType::kFloat, DataType::kDouble};
  AddOp(registry, "LabelEncoder", {}, {labels}, MakeLabelEncoder, kMl);
  AddOp(registry, "OneHotEncoder", {}, {categories}, MakeOneHotEncoder, kMl);
  AddOp(registry, "ArrayFeatureExtractor", {}, {features, {DataType::kInt64}}, Stateless(ExtractFeatures), kMl);
}

}  // namespace rulerun
