#include "kernels/int8/matmul.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "kernels/int8/params.h"

namespace rulerun::int8 {
namespace {

Error Mismatch(std::string_view op, const Dims& a, const Dims& b) {
  return OpError(op, "cannot multiply shapes " + ToText(a) + " and " + ToText(b));
}

// Which matrix of an operand with leading axes `dims` matrix `index` of the output comes from.
int64_t SourceIndex(std::span<const int64_t> dims, std::span<const int64_t> out, int64_t index) {
  int64_t source = 0;
  int64_t stride = 1;
  const size_t skip = out.size() - dims.size();
  for (size_t axis = out.size(); axis-- > 0;) {
    const int64_t at = index % out[axis];
    index /= out[axis];
    if (axis < skip) continue;
    const int64_t dim = dims[axis - skip];
    if (dim != 1) source += at * stride;
    stride *= dim;
  }
  return source;
}

std::optional<Dims> BroadcastDims(const Dims& a, const Dims& b) {
  Dims out(std::max(a.size(), b.size()), 1);
  for (size_t i = 0; i < out.size(); ++i) {
    const int64_t da = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int64_t db = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (da != db && da != 1 && db != 1) return std::nullopt;
    out[out.size() - 1 - i] = da == 1 ? db : da;
  }
  return out;
}

}  // namespace

Result<MatMulShape> ResolveMatMul(const Dims& a, const Dims& b, std::string_view op) {
  if (a.empty() || b.empty()) return Mismatch(op, a, b);
  MatMulShape shape;
  const bool a_vector = a.size() == 1;
  const bool b_vector = b.size() == 1;
  shape.m = a_vector ? 1 : a[a.size() - 2];
  shape.k = a.back();
  shape.n = b_vector ? 1 : b.back();
  if (shape.k != (b_vector ? b[0] : b[b.size() - 2])) return Mismatch(op, a, b);
  const Dims a_lead(a.begin(), a.end() - (a_vector ? 1 : 2));
  const Dims b_lead(b.begin(), b.end() - (b_vector ? 1 : 2));
  const std::optional<Dims> lead = BroadcastDims(a_lead, b_lead);
  if (!lead.has_value()) return Mismatch(op, a, b);
  shape.out = *lead;
  if (!a_vector) shape.out.push_back(shape.m);
  if (!b_vector) shape.out.push_back(shape.n);
  const std::optional<int64_t> outputs = ElementCount(shape.out);
  if (!outputs.has_value()) return Mismatch(op, a, b);
  shape.b_matrices = ElementCount(b_lead).value_or(0);
  if (*outputs == 0) return shape;  // nothing to compute, however long the lists would be

  const int64_t matrices = ElementCount(*lead).value_or(0);
  const bool all_zero = shape.k == 0;  // B then has no elements that would bound the number of its matrices
  if (all_zero) shape.b_matrices = 1;
  if (all_zero || (shape.b_matrices == 1 && ElementCount(a_lead) == matrices)) {  // one tall product
    shape.m *= matrices;
    shape.a_index = {0};
    shape.b_index = {0};
    return shape;
  }
  for (int64_t i = 0; i < matrices; ++i) {
    shape.a_index.push_back(SourceIndex(a_lead, *lead, i));
    shape.b_index.push_back(SourceIndex(b_lead, *lead, i));
  }
  return shape;
}

Result<PackedMatrices> PackMatrices(ThreadPool& pool, const Tensor& b) {
  const Dims& dims = b.dims();
  const bool is_vector = dims.size() == 1;
  const int64_t k = dims.empty() ? 1 : is_vector ? dims[0] : dims[dims.size() - 2];
  const int64_t n = is_vector || dims.empty() ? 1 : dims.back();
  const int64_t matrices =
      is_vector || dims.empty() ? 1 : ElementCount(std::span(dims).first(dims.size() - 2)).value_or(0);
  PackedMatrices packed(static_cast<size_t>(b.count() == 0 ? 1 : matrices));
  std::vector<Status> status(packed.size());
  const GemmCode& code = CurrentGemmCode();
  pool.ParallelFor(static_cast<int64_t>(packed.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      auto result = PackedMatrix::Pack(code, b.data<uint8_t>() + i * k * n, b.type() == DataType::kInt8, k, n, false);
      if (result.ok()) {
        packed[static_cast<size_t>(i)] = std::move(result).value();
      } else {
        status[static_cast<size_t>(i)] = result.error();
      }
    }
  });
  for (const Status& one : status) RULERUN_RETURN_IF_ERROR(one);
  return packed;
}

Result<PackedMatrices> PackConstant(const KernelRequest& request, size_t slot) {
  const Tensor* b = Constant(request, slot);
  if (b == nullptr || !IsEightBit(b->type()) || b->count() == 0) return PackedMatrices();
  ThreadPool alone(1);
  return PackMatrices(alone, *b);
}

namespace {

int64_t EntriesFor(const Tensor* tensor, const MatMulShape& shape) {
  const bool per_matrix = tensor != nullptr && tensor->count() == shape.b_matrices * shape.n;
  return per_matrix ? shape.b_matrices * shape.n : shape.n;
}

template <typename T>
std::vector<T> Repeat(std::vector<T> values, const MatMulShape& shape) {
  const auto wanted = static_cast<size_t>(shape.b_matrices * shape.n);
  const size_t have = values.size();
  values.reserve(wanted);
  while (values.size() < wanted)
    values.insert(values.end(), values.begin(), values.begin() + static_cast<ptrdiff_t>(have));
  return values;
}

}  // namespace

Result<std::vector<float>> ReadColumnScales(const KernelContext& context, size_t slot, const MatMulShape& shape,
                                            std::string_view op) {
  RULERUN_ASSIGN(std::vector<float> scales,
                 ReadScales(context, slot, EntriesFor(context.Input(slot), shape), op, "b_scale"));
  return Repeat(std::move(scales), shape);
}

Result<std::vector<int32_t>> ReadColumnZeroPoints(const KernelContext& context, size_t slot, DataType type,
                                                  const MatMulShape& shape, std::string_view op) {
  const Tensor* tensor = context.Input(slot);
  RULERUN_ASSIGN(std::vector<int32_t> zero_points,
                 ReadZeroPoints(tensor, type, EntriesFor(tensor, shape), op, "b_zero_point"));
  return Repeat(std::move(zero_points), shape);
}

void RunMatMul(ThreadPool& pool, const MatMulShape& shape, const uint8_t* a, bool a_is_signed, const PackedMatrices& b,
               bool b_is_signed, const MatMulFinish& finish, void* out) {
  if (shape.a_index.empty() || shape.n == 0) return;
  const auto n = static_cast<size_t>(shape.n);
  std::vector<int32_t> b_zeros(finish.b_zero_points.begin(), finish.b_zero_points.end());
  for (int32_t& zero : b_zeros) zero = ShiftedB(b_is_signed, zero);
  const int32_t a_zero = ShiftedA(a_is_signed, finish.a_zero_point);

  std::vector<std::vector<int32_t>> offsets(b.size());
  std::vector<Epilogue> epilogues(b.size());
  for (size_t i = 0; i < b.size(); ++i) {
    const std::span<const int32_t> zeros = std::span<const int32_t>(b_zeros).subspan(i * n, n);
    offsets[i] = b[i].ColumnOffsets(a_zero, zeros, finish.bias);
    Epilogue& epilogue = epilogues[i];
    epilogue.kind = finish.kind;
    epilogue.column_offset = offsets[i].data();
    const bool symmetric = std::all_of(zeros.begin(), zeros.end(), [](int32_t zero) { return zero == 0; });
    epilogue.b_zero = symmetric ? nullptr : zeros.data();
    epilogue.multiplier = finish.multiplier.empty() ? nullptr : finish.multiplier.data() + i * n;
    epilogue.float_bias = finish.float_bias;
    epilogue.zero_point = finish.y_zero_point;
    epilogue.limits = finish.limits;
    epilogue.addend = finish.addend;
    epilogue.addend_row = finish.addend_row;
    epilogue.addend_column = finish.addend_column;
  }

  std::vector<GemmJob> jobs(shape.a_index.size());
  for (size_t i = 0; i < jobs.size(); ++i) {
    const auto from = static_cast<size_t>(shape.b_index[i]);
    jobs[i].a = a + shape.a_index[i] * shape.m * shape.k;
    jobs[i].b = &b[from];
    jobs[i].epilogue = &epilogues[from];
    jobs[i].out = static_cast<std::byte*>(out) + i * static_cast<size_t>(shape.m) * n * epilogues[from].ElementBytes();
    jobs[i].rows = shape.m;
  }
  Gemm(pool, jobs, a_is_signed);
}

}  // namespace rulerun::int8
