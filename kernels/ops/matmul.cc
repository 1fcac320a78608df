// MatMul and com.microsoft.FusedMatMul with numpy's batch broadcasting; Gemm and com.microsoft.FusedGemm.
#include <algorithm>
#include <atomic>
#include <cmath>

#include "engine/base/codes.h"
#include "kernels/buffer.h"
#include "kernels/ops/activation.h"
#include "kernels/ops/broadcast.h"
#include "kernels/ops/gemm.h"
#include "kernels/ops/op.h"
#include "kernels/ops/strided_copy.h"

namespace rulerun {
namespace {

Error NoMemory() { return Error{Code::kNoMemory, "no memory left to pack a matrix", "", ""}; }

struct MatMulAttributes {
  float alpha = 1;
  bool trans_a = false, trans_b = false;              // the matrices
  bool trans_batch_a = false, trans_batch_b = false;  // the rows stand in front of the batch
};

// The matrices of one product: rows x depth times depth x columns, for every batch entry.
struct Layout {
  int64_t rows = 1, depth = 1, columns = 1;
  bool trans_a = false, trans_b = false;
  bool scaled = false;  // with an alpha or a beta, MLAS takes no short cuts
  Broadcast batches;
  Dims dims;  // of the output

  int64_t a_size() const { return rows * depth; }
  int64_t b_size() const { return depth * columns; }
  int64_t c_size() const { return rows * columns; }
};

Result<Layout> MakeLayout(const Dims& a, const Dims& b, const MatMulAttributes& attributes) {
  if (a.empty() || b.empty()) return Invalid("a scalar cannot be multiplied as a matrix");
  Layout layout;
  // A transposition of a vector is ignored, as ONNX Runtime does.
  layout.trans_a = attributes.trans_a && a.size() > 1;
  layout.trans_b = attributes.trans_b && b.size() > 1;
  layout.scaled = attributes.alpha != 1;
  Dims a_matrix = a.size() == 1 ? Dims{1, a[0]} : Dims{a[a.size() - 2], a.back()};
  Dims b_matrix = b.size() == 1 ? Dims{b[0], 1} : Dims{b[b.size() - 2], b.back()};
  if (layout.trans_a) std::swap(a_matrix[0], a_matrix[1]);
  if (layout.trans_b) std::swap(b_matrix[0], b_matrix[1]);
  if (a_matrix[1] != b_matrix[0]) return Invalid("shapes " + DimsText(a) + " and " + DimsText(b) + " do not multiply");
  layout.rows = a_matrix[0];
  layout.depth = a_matrix[1];
  layout.columns = b_matrix[1];
  const Dims a_batch(a.begin(), a.size() > 2 ? a.end() - 2 : a.begin());
  const Dims b_batch(b.begin(), b.size() > 2 ? b.end() - 2 : b.begin());
  RULERUN_ASSIGN(layout.batches, Broadcast::Make({&a_batch, &b_batch}));
  layout.dims = layout.batches.dims();
  if (a.size() > 1) layout.dims.push_back(layout.rows);
  if (b.size() > 1) layout.dims.push_back(layout.columns);
  // Without a batch in B, the rows of all of A's batches are one matrix.
  if (!layout.trans_a && ElementCount(b_batch) == 1 && layout.batches.count() > 1) {
    layout.rows *= layout.batches.count();
    RULERUN_ASSIGN(layout.batches, Broadcast::Make({}));
  }
  return layout;
}

MatrixView ViewOfB(const float* b, const Layout& layout) {
  return layout.trans_b ? MatrixView{b, 1, layout.depth} : MatrixView{b, layout.columns, 1};
}

// A row-major copy of A where it is stored transposed.
std::vector<float> Untransposed(const float* a, const Layout& layout) {
  std::vector<float> copy(static_cast<size_t>(layout.a_size()));
  for (int64_t i = 0; i < layout.rows; ++i) {
    for (int64_t k = 0; k < layout.depth; ++k) copy[static_cast<size_t>(i * layout.depth + k)] = a[k * layout.rows + i];
  }
  return copy;
}

GemmOrder OrderFor(const Layout& layout, bool packed = false) {
  if (packed) return {};
  GemmOrder order = UnpackedOrder(layout.depth, layout.columns, layout.trans_a);
  order.row_by_fours = order.row_by_fours && !layout.scaled;
  return order;
}

// Where one factor is a single vector and the other one's rows lie along it, MLAS packs nothing. false: it does.
bool MultiplyVector(const Layout& layout, const float* a, const float* b, float* c, bool add = false) {
  if (layout.scaled || layout.trans_a) return false;
  if (layout.rows == 1 && layout.trans_b) {
    GemmDots(a, b, layout.depth, layout.columns, layout.depth, c, add);
    return true;
  }
  if (layout.rows == 1 || layout.columns != 1 || layout.trans_b) return false;
  GemmDots(b, a, layout.depth, layout.rows, layout.depth, c, add);
  return true;
}

// One product of a batch, on the calling thread.
void MultiplyOne(const Layout& layout, const float* a, const float* b, PackedMatrix& packed, float* c) {
  if (MultiplyVector(layout, a, b, c)) return;
  packed.Pack(ViewOfB(b, layout), nullptr);
  std::vector<float> copy;
  if (layout.trans_a) copy = Untransposed(a, layout);
  GemmPanels(layout.trans_a ? copy.data() : a, layout.depth, layout.rows, packed.panel(0), layout.depth, layout.columns,
             c, layout.columns, OrderFor(layout));
}

Status MultiplyFloats(const Layout& layout, const float* a, const float* b, const PackedMatrix& constant, float* c,
                      ThreadPool& pool) {
  if (layout.batches.count() == 1) {
    PackedMatrix packed = constant;
    if (!packed.allocated()) {
      if (MultiplyVector(layout, a, b, c)) return {};
      packed = PackedMatrix(layout.depth, layout.columns);
      if (!packed.allocated()) return NoMemory();
      packed.Pack(ViewOfB(b, layout), &pool);
    }
    std::vector<float> copy;
    if (layout.trans_a) copy = Untransposed(a, layout);
    Gemm(layout.trans_a ? copy.data() : a, layout.depth, layout.rows, packed, c, layout.columns, pool,
         OrderFor(layout, constant.allocated()));
    return {};
  }
  std::atomic<bool> failed = false;
  const int64_t work = std::max<int64_t>(1, layout.rows * layout.b_size());
  pool.ParallelFor(layout.batches.count(), std::max<int64_t>(1, 100000 / work), [&](int64_t begin, int64_t end) {
    PackedMatrix packed(layout.depth, layout.columns);
    if (!packed.allocated()) {
      failed = true;
      return;
    }
    layout.batches.ForEachRun(begin, end, [&](int64_t position, const Broadcast::Offsets& offsets, int64_t length) {
      for (int64_t i = 0; i < length; ++i) {
        const int64_t a_index = offsets[0] + i * layout.batches.step(0);
        const int64_t b_index = offsets[1] + i * layout.batches.step(1);
        MultiplyOne(layout, a + a_index * layout.a_size(), b + b_index * layout.b_size(), packed,
                    c + (position + i) * layout.c_size());
      }
    });
  });
  if (failed) return NoMemory();
  return {};
}

// One fused multiply-add for doubles, as ONNX Runtime's; integers wrap around.
template <typename T>
T MultiplyAdd(T a, T b, T c) {
  if constexpr (std::is_floating_point_v<T>) return std::fma(a, b, c);
  return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b) + static_cast<uint64_t>(c));
}

// The plain loops, for the other types.
template <typename T>
void MultiplyPlain(const Layout& layout, const T* a, const T* b, T* c) {
  const int64_t a_row = layout.trans_a ? 1 : layout.depth, a_step = layout.trans_a ? layout.rows : 1;
  const int64_t b_row = layout.trans_b ? 1 : layout.columns, b_step = layout.trans_b ? layout.depth : 1;
  for (int64_t i = 0; i < layout.rows; ++i) {
    for (int64_t j = 0; j < layout.columns; ++j) {
      T sum = 0;
      for (int64_t k = 0; k < layout.depth; ++k) {
        sum = MultiplyAdd(a[i * a_row + k * a_step], b[k * b_row + j * b_step], sum);
      }
      c[i * layout.columns + j] = sum;
    }
  }
}

template <typename T>
Status MultiplyOthers(KernelContext& context, const Layout& layout, const Tensor& a, const Tensor& b, float alpha) {
  RULERUN_ASSIGN(Tensor * y, context.Output(0, a.type(), layout.dims));
  const Broadcast& batches = layout.batches;
  context.pool().ParallelFor(batches.count(), 1, [&](int64_t begin, int64_t end) {
    batches.ForEachRun(begin, end, [&](int64_t position, const Broadcast::Offsets& offsets, int64_t length) {
      for (int64_t i = 0; i < length; ++i) {
        T* c = y->mutable_data<T>() + (position + i) * layout.c_size();
        MultiplyPlain(layout, a.data<T>() + (offsets[0] + i * batches.step(0)) * layout.a_size(),
                      b.data<T>() + (offsets[1] + i * batches.step(1)) * layout.b_size(), c);
        for (int64_t k = 0; alpha != 1 && k < layout.c_size(); ++k) c[k] *= static_cast<T>(alpha);
      }
    });
  });
  return {};
}

// [rows, batch..., columns] -> [batch..., rows, columns].
Result<Tensor> RowsBehindBatch(const Tensor& x, ThreadPool& pool) {
  if (x.rank() < 3) return x;
  Dims dims = x.dims();
  StridedView from{0, DenseStrides(dims)};
  std::rotate(dims.begin(), dims.begin() + 1, dims.end() - 1);
  std::rotate(from.strides.begin(), from.strides.begin() + 1, from.strides.end() - 1);
  RULERUN_ASSIGN(Tensor moved, AllocateTensor(x.type(), dims));
  RULERUN_RETURN_IF_ERROR(CopyStrided(x, from, moved, {0, DenseStrides(dims)}, dims, pool));
  return moved;
}

// A constant B of one matrix, packed once; not allocated where there is none.
PackedMatrix PackConstant(const KernelRequest& request, const MatMulAttributes& attributes) {
  const Tensor* b = request.constants.size() > 1 ? request.constants[1] : nullptr;
  if (b == nullptr || b->type() != DataType::kFloat || b->rank() != 2) return {};
  const int64_t depth = b->dims()[attributes.trans_b ? 1 : 0], columns = b->dims()[attributes.trans_b ? 0 : 1];
  PackedMatrix packed(depth, columns);
  if (!packed.allocated()) return {};
  packed.Pack(attributes.trans_b ? MatrixView{b->data<float>(), 1, depth} : MatrixView{b->data<float>(), columns, 1},
              nullptr);
  return packed;
}

Status RunMatMul(const MatMulAttributes& attributes, const PackedMatrix& constant, KernelContext& context) {
  RULERUN_ASSIGN(const Tensor* given_a, Required(context, 0));
  RULERUN_ASSIGN(const Tensor* given_b, Required(context, 1));
  if (given_a->type() != given_b->type()) return Invalid("the inputs have different element types");
  Tensor a = *given_a, b = *given_b;
  if (attributes.trans_batch_a) {
    RULERUN_ASSIGN(a, RowsBehindBatch(a, context.pool()));
  }
  if (attributes.trans_batch_b) {
    RULERUN_ASSIGN(b, RowsBehindBatch(b, context.pool()));
  }
  RULERUN_ASSIGN(const Layout layout, MakeLayout(a.dims(), b.dims(), attributes));
  if (a.type() != DataType::kFloat) {
    return Dispatch<double, int32_t, uint32_t, int64_t, uint64_t>(
        a.type(), [&]<typename T>(TypeTag<T>) { return MultiplyOthers<T>(context, layout, a, b, attributes.alpha); });
  }
  RULERUN_ASSIGN(Tensor * y, context.Output(0, DataType::kFloat, layout.dims));
  float* c = y->mutable_data<float>();
  RULERUN_RETURN_IF_ERROR(MultiplyFloats(layout, a.data<float>(), b.data<float>(), constant, c, context.pool()));
  for (int64_t i = 0; attributes.alpha != 1 && i < y->count(); ++i) c[i] *= attributes.alpha;
  return {};
}

Result<std::unique_ptr<Kernel>> MakeMatMul(const KernelRequest& request) {
  MatMulAttributes attributes;
  attributes.alpha = FloatOr(*request.attributes, "alpha", 1);
  attributes.trans_a = IntOr(*request.attributes, "transA", 0) != 0;
  attributes.trans_b = IntOr(*request.attributes, "transB", 0) != 0;
  attributes.trans_batch_a = IntOr(*request.attributes, "transBatchA", 0) != 0;
  attributes.trans_batch_b = IntOr(*request.attributes, "transBatchB", 0) != 0;
  return MakeKernel([attributes, constant = PackConstant(request, attributes)](KernelContext& context) {
    return RunMatMul(attributes, constant, context);
  });
}

// --- Gemm

struct GemmAttributes {
  MatMulAttributes product;
  float beta = 1;
  Activation activation;
};

// y = beta * C, broadcast; zeros without C.
template <typename T>
Status FillWithC(const Tensor* c, T beta, Tensor& y) {
  T* to = y.mutable_data<T>();
  if (c == nullptr || beta == 0) {
    std::fill(to, to + y.count(), T{0});
    return {};
  }
  RULERUN_ASSIGN(const Broadcast plan, Broadcast::Make({&c->dims(), &y.dims()}));
  if (plan.dims() != y.dims())
    return Invalid("C of shape " + DimsText(c->dims()) + " does not broadcast to " + DimsText(y.dims()));
  const T* from = c->data<T>();
  plan.ForEachRun(0, plan.count(), [&](int64_t position, const Broadcast::Offsets& offsets, int64_t length) {
    for (int64_t i = 0; i < length; ++i) to[position + i] = beta * from[offsets[0] + i * plan.step(0)];
  });
  return {};
}

Status RunDoubleGemm(const GemmAttributes& attributes, const Layout& layout, KernelContext& context) {
  RULERUN_ASSIGN(Tensor * y, context.Output(0, DataType::kDouble, layout.dims));
  RULERUN_RETURN_IF_ERROR(FillWithC(context.Input(2), static_cast<double>(attributes.beta), *y));
  std::vector<double> product(static_cast<size_t>(y->count()));
  MultiplyPlain(layout, context.Input(0)->data<double>(), context.Input(1)->data<double>(), product.data());
  const auto alpha = static_cast<double>(attributes.product.alpha);
  double* to = y->mutable_data<double>();
  for (size_t i = 0; i < product.size(); ++i) to[i] += alpha * product[i];
  return {};
}

// y += alpha * A * B.
Status AddProduct(float alpha, const Layout& layout, const Tensor& a, const Tensor& b, const PackedMatrix& constant,
                  ThreadPool& pool, Tensor& y) {
  float* to = y.mutable_data<float>();
  PackedMatrix packed = constant;
  if (!packed.allocated()) {
    if (MultiplyVector(layout, a.data<float>(), b.data<float>(), to, /*add=*/true)) return {};
    packed = PackedMatrix(layout.depth, layout.columns);
    if (!packed.allocated()) return NoMemory();
    packed.Pack(ViewOfB(b.data<float>(), layout), &pool);
  }
  std::vector<float> copy;
  if (layout.trans_a) copy = Untransposed(a.data<float>(), layout);
  const float* rows = layout.trans_a ? copy.data() : a.data<float>();
  const GemmOrder order = OrderFor(layout, constant.allocated());
  if (alpha == 1) {
    Gemm(rows, layout.depth, layout.rows, packed, to, layout.columns, pool, order, /*add=*/true);
    return {};
  }
  std::vector<float> product(static_cast<size_t>(y.count()));
  Gemm(rows, layout.depth, layout.rows, packed, product.data(), layout.columns, pool, order);
  for (size_t i = 0; i < product.size(); ++i) to[i] = std::fma(alpha, product[i], to[i]);
  return {};
}

Status RunGemm(const GemmAttributes& attributes, const PackedMatrix& constant, KernelContext& context) {
  RULERUN_ASSIGN(const Tensor* a, Required(context, 0));
  RULERUN_ASSIGN(const Tensor* b, Required(context, 1));
  const Tensor* c = context.Input(2);
  if (a->rank() != 2 || b->rank() != 2) return Invalid("A and B must be matrices");
  if (a->type() != b->type() || (c != nullptr && c->type() != a->type())) {
    return Invalid("the inputs have different element types");
  }
  RULERUN_ASSIGN(Layout layout, MakeLayout(a->dims(), b->dims(), attributes.product));
  layout.scaled = layout.scaled || (c != nullptr && attributes.beta != 1 && attributes.beta != 0);
  if (a->type() == DataType::kDouble) return RunDoubleGemm(attributes, layout, context);
  RULERUN_ASSIGN(Tensor * y, context.Output(0, DataType::kFloat, layout.dims));
  RULERUN_RETURN_IF_ERROR(FillWithC(c, attributes.beta, *y));
  RULERUN_RETURN_IF_ERROR(AddProduct(attributes.product.alpha, layout, *a, *b, constant, context.pool(), *y));
  float* to = y->mutable_data<float>();
  attributes.activation.Apply(to, y->count());
  return {};
}

Result<Activation> GemmActivation(const AttributeMap& attributes) {
  const std::string name = StringOr(attributes, "activation", "");
  std::vector<float> parameters;
  // The defaults are those of the activation's own operator.
  if (name == "LeakyRelu") parameters = {FloatOr(attributes, "activation_alpha", 0.01f)};
  if (name == "HardSigmoid") {
    parameters = {FloatOr(attributes, "activation_alpha", 0.2f), FloatOr(attributes, "activation_beta", 0.5f)};
  }
  return Activation::Make(name, parameters);
}

Result<std::unique_ptr<Kernel>> MakeGemm(const KernelRequest& request) {
  GemmAttributes attributes;
  attributes.product.alpha = FloatOr(*request.attributes, "alpha", 1);
  attributes.product.trans_a = IntOr(*request.attributes, "transA", 0) != 0;
  attributes.product.trans_b = IntOr(*request.attributes, "transB", 0) != 0;
  attributes.beta = FloatOr(*request.attributes, "beta", 1);
  RULERUN_ASSIGN(attributes.activation, GemmActivation(*request.attributes));
  return MakeKernel([attributes, constant = PackConstant(request, attributes.product)](KernelContext& context) {
    return RunGemm(attributes, constant, context);
  });
}

}  // namespace

void Register_ops_matmul(KernelRegistry& registry) {
  const Types floats = {DataType::kFloat};
  const Types numbers = {DataType::kFloat,  DataType::kDouble, DataType::kInt32,
                         DataType::kUint32, DataType::kInt64,  DataType::kUint64};
  AddOp(registry, "MatMul", {1, kLatest}, {numbers, numbers}, MakeMatMul);
  AddOp(registry, "FusedMatMul", {1, kLatest}, {FloatTypes(), FloatTypes()}, MakeMatMul, kMicrosoft);
  AddOp(registry, "Gemm", {1, kLatest}, {FloatTypes(), FloatTypes(), FloatTypes()}, MakeGemm);
  AddOp(registry, "FusedGemm", {1, kLatest}, {floats, floats, floats}, MakeGemm, kMicrosoft);
}

}  // namespace rulerun
