#include "kernels/executor/random_inputs.h"

#include "engine/base/codes.h"
#include "kernels/buffer.h"

namespace rulerun {
namespace {

// SplitMix64 (Steele, Lea, Flood 2014): tiny, good enough, and the same everywhere.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t Next() {
    state_ += 0x9e3779b97f4a7c15u;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  // Multiples of 2^-23 in [-1, 1): exact in a float.
  float Uniform() { return static_cast<float>(static_cast<int64_t>(Next() >> 40) - (1 << 23)) * 0x1p-23f; }

 private:
  uint64_t state_;
};

// Each input has its own sequence, so that one more input does not change the others.
uint64_t SeedOf(uint64_t seed, const std::string& name) {
  uint64_t hash = 0xcbf29ce484222325u ^ seed;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

// Codes are of any value; wider integers are small, since they are indices, sizes and counts.
int64_t RandomInteger(DataType type, Random& random) {
  if (type == DataType::kBool) return static_cast<int64_t>(random.Next() % 2);
  const int bits = BitWidth(type);
  if (bits > 8) return static_cast<int64_t>(random.Next() % 4);
  const auto code = static_cast<int64_t>(random.Next() % (uint64_t{1} << bits));
  return code + RangeOf(type)->min;
}

Status Fill(Tensor& tensor, Random& random) {
  const int64_t count = tensor.count();
  const DataType type = tensor.type();
  if (type == DataType::kString) return {};
  for (int64_t i = 0; i < count; ++i) {
    if (type == DataType::kFloat) {
      tensor.mutable_data<float>()[i] = random.Uniform();
    } else if (type == DataType::kDouble) {
      tensor.mutable_data<double>()[i] = static_cast<double>(random.Uniform());
    } else if (type == DataType::kFloat16) {
      tensor.mutable_data<uint16_t>()[i] = FloatToHalf(random.Uniform());
    } else if (type == DataType::kBfloat16) {
      tensor.mutable_data<uint16_t>()[i] = FloatToBfloat(random.Uniform());
    } else if (IsInteger(type) || type == DataType::kBool) {
      SetInt(tensor, i, RandomInteger(type, random));
    } else {
      return Error{Code::kTypeLimit, "no random values for type " + std::string(Name(type)), "", ""};
    }
  }
  return {};
}

}  // namespace

Result<TensorMap> RandomInputs(const Graph& graph, uint64_t seed, const DimBindings& bindings) {
  TensorMap inputs;
  for (const ValueId id : graph.inputs()) {
    const Value& value = graph.value(id);
    if (value.initializer) continue;
    const std::string place = "input '" + value.name + "'";
    if (!value.type.shape || value.type.element == DataType::kUndefined) {
      return Error{Code::kMissingInput, "the model declares no tensor type or no rank for it", place,
                   "give a value for it with --input"};
    }
    Dims dims;
    for (const Dim& dim : *value.type.shape) {
      const auto bound = bindings.find(dim.symbol);
      dims.push_back(dim.known() ? dim.size : bound != bindings.end() ? bound->second : 1);
    }
    RULERUN_ASSIGN(Tensor tensor, AllocateTensor(value.type.element, std::move(dims)));
    Random random(SeedOf(seed, value.name));
    if (Status status = Fill(tensor, random); !status.ok()) {
      Error error = status.error();
      error.place = place;
      return error;
    }
    inputs.emplace(value.name, std::move(tensor));
  }
  return inputs;
}

}  // namespace rulerun
