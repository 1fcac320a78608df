// Pad in its modes constant, edge, reflect and wrap; negative pads cut off.
#include <algorithm>

#include "kernels/ops/op.h"
#include "kernels/ops/strided_copy.h"

namespace rulerun {
namespace {

enum class Mode { kConstant, kEdge, kReflect, kWrap };

Result<Mode> ReadMode(const std::string& name) {
  if (name == "constant") return Mode::kConstant;
  if (name == "edge") return Mode::kEdge;
  if (name == "reflect") return Mode::kReflect;
  if (name == "wrap") return Mode::kWrap;
  return Invalid("unknown mode '" + name + "'");
}

struct Pads {
  std::vector<int64_t> begin, end;  // one per axis
};

// `flat`: begins, then ends, of `axes` (empty: all of them).
Result<Pads> ReadPads(const std::vector<int64_t>& flat, std::vector<int64_t> axes, size_t rank) {
  Pads pads{std::vector<int64_t>(rank), std::vector<int64_t>(rank)};
  if (axes.empty() && flat.size() == 2 * rank) {
    for (size_t i = 0; i < rank; ++i) axes.push_back(static_cast<int64_t>(i));
  }
  if (flat.size() != 2 * axes.size()) return Invalid("pads does not have two values per axis");
  RULERUN_ASSIGN(axes, ResolveAxes(std::move(axes), static_cast<int64_t>(rank)));
  for (size_t i = 0; i < axes.size(); ++i) {
    pads.begin[static_cast<size_t>(axes[i])] = flat[i];
    pads.end[static_cast<size_t>(axes[i])] = flat[i + axes.size()];
  }
  return pads;
}

// Where output position `at` of an axis reads, for an input of `size` > 0 elements.
int64_t SourceOf(Mode mode, int64_t at, int64_t size) {
  if (mode == Mode::kEdge) return std::clamp<int64_t>(at, 0, size - 1);
  if (mode == Mode::kWrap) return ((at % size) + size) % size;
  if (size == 1) return 0;
  const int64_t period = 2 * (size - 1);
  const int64_t phase = ((at % period) + period) % period;
  return phase < size ? phase : period - phase;
}

// For each axis, the source of every output position; reads go axis by axis through these tables.
template <typename T>
void FillByTables(const T* x, const std::vector<std::vector<int64_t>>& tables, T* y, const Dims& dims,
                  ThreadPool& pool) {
  const auto& inner = tables.back();
  const auto width = static_cast<int64_t>(inner.size());
  const int64_t rows = Product(dims, 0, static_cast<int64_t>(dims.size()) - 1);
  pool.ParallelFor(rows, std::max<int64_t>(1, 16384 / std::max<int64_t>(1, width)), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      int64_t rest = row, offset = 0;
      for (size_t a = tables.size() - 1; a-- > 0;) {
        offset += tables[a][static_cast<size_t>(rest % dims[a])];
        rest /= dims[a];
      }
      for (int64_t i = 0; i < width; ++i) y[row * width + i] = x[offset + inner[static_cast<size_t>(i)]];
    }
  });
}

Status PadConstant(const Tensor& x, const Pads& pads, const Tensor* value, Tensor& y, ThreadPool& pool) {
  if (value != nullptr && (value->type() != x.type() || value->count() != 1)) {
    return Invalid("constant_value must be one element of the input's type");
  }
  RULERUN_RETURN_IF_ERROR(DispatchWidth(x.type(), [&]<typename T>(TypeTag<T>) -> Status {
    std::fill_n(MutableElements<T>(y), y.count(), value == nullptr ? T{} : *Elements<T>(*value));
    return {};
  }));
  // The part of the input that is not cut off.
  StridedView from{0, DenseStrides(x.dims())}, to{0, DenseStrides(y.dims())};
  Dims kept = x.dims();
  for (size_t i = 0; i < kept.size(); ++i) {
    const int64_t cut_begin = std::max<int64_t>(0, -pads.begin[i]), cut_end = std::max<int64_t>(0, -pads.end[i]);
    kept[i] = std::max<int64_t>(0, x.dims()[i] - cut_begin - cut_end);
    from.offset += cut_begin * from.strides[i];
    to.offset += std::max<int64_t>(0, pads.begin[i]) * to.strides[i];
  }
  return CopyStrided(x, from, y, to, kept, pool);
}

Status RunPad(KernelContext& context, Mode mode, const Pads& pads, const Tensor* value) {
  RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
  Dims dims = x->dims();
  for (size_t i = 0; i < dims.size(); ++i) {
    constexpr int64_t kLimit = int64_t{1} << 40;
    if (std::abs(pads.begin[i]) > kLimit || std::abs(pads.end[i]) > kLimit) return Invalid("a pad is out of range");
    dims[i] += pads.begin[i] + pads.end[i];
    if (dims[i] < 0) return Invalid("pads cut off more than there is");
    if (mode != Mode::kConstant && x->dims()[i] == 0 && dims[i] > 0) return Invalid("an empty axis cannot be repeated");
  }
  RULERUN_ASSIGN(Tensor * y, context.Output(0, x->type(), dims));
  if (y->count() == 0) return {};
  if (mode == Mode::kConstant) return PadConstant(*x, pads, value, *y, context.pool());
  const std::vector<int64_t> strides = DenseStrides(x->dims());
  std::vector<std::vector<int64_t>> tables(std::max<size_t>(1, dims.size()));
  if (dims.empty()) tables[0] = {0};
  for (size_t i = 0; i < dims.size(); ++i) {
    // With negative pads the input is cut first, and what is left is repeated.
    const int64_t cut_begin = std::max<int64_t>(0, -pads.begin[i]), cut_end = std::max<int64_t>(0, -pads.end[i]);
    const int64_t size = x->dims()[i] - cut_begin - cut_end;
    if (size <= 0) return Invalid("pads cut off more than there is");
    for (int64_t at = 0; at < dims[i]; ++at) {
      const int64_t source = SourceOf(mode, at - std::max<int64_t>(0, pads.begin[i]), size);
      tables[i].push_back((cut_begin + source) * strides[i]);
    }
  }
  return DispatchWidth(x->type(), [&]<typename T>(TypeTag<T>) -> Status {
    FillByTables(Elements<T>(*x), tables, MutableElements<T>(*y), dims.empty() ? Dims{1} : dims, context.pool());
    return {};
  });
}

// Pads and value are attributes before version 11, inputs since.
Result<std::unique_ptr<Kernel>> MakePad(const KernelRequest& request) {
  RULERUN_ASSIGN(const Mode mode, ReadMode(StringOr(*request.attributes, "mode", "constant")));
  if (request.since_version >= 11 || request.domain == kMicrosoft) {
    return MakeKernel([mode](KernelContext& context) -> Status {
      RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
      RULERUN_ASSIGN(const Tensor* flat, Required(context, 1));
      std::vector<int64_t> axes;
      if (const Tensor* input = context.Input(3)) axes = ToInts(*input);
      RULERUN_ASSIGN(const Pads pads, ReadPads(ToInts(*flat), std::move(axes), x->dims().size()));
      return RunPad(context, mode, pads, context.Input(2));
    });
  }
  const std::vector<int64_t> flat = IntsOr(*request.attributes, request.since_version < 2 ? "paddings" : "pads", {});
  const float value = FloatOr(*request.attributes, "value", 0);
  return MakeKernel([=](KernelContext& context) -> Status {
    RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
    RULERUN_ASSIGN(const Pads pads, ReadPads(flat, {}, x->dims().size()));
    const Tensor constant = x->type() == DataType::kDouble ? Tensor::Scalar(static_cast<double>(value))
                            : x->type() == DataType::kFloat16
                                ? Tensor::Scalar(FloatToHalf(value)).WithType(DataType::kFloat16)
                                : Tensor::Scalar(value);
    return RunPad(context, mode, pads, constant.type() == x->type() ? &constant : nullptr);
  });
}

}  // namespace

void Register_ops_pad(KernelRegistry& registry) {
  AddOp(registry, "Pad", {}, {MovableTypes(), {DataType::kInt64}, MovableTypes(), IndexTypes()}, MakePad);
  AddOp(registry, "Pad", {}, {MovableTypes(), {DataType::kInt64}, MovableTypes(), IndexTypes()}, MakePad, kMicrosoft);
}

}  // namespace rulerun
