// TopK, CumSum, CumProd and Unique: operators that depend on an order of the elements.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/ops/op.h"

namespace rulerun {
namespace {

// Strict: equal elements are told apart by index, the lower one first. NaN counts as larger than everything.
template <typename T>
bool Before(const T* x, int64_t step, int64_t a, int64_t b, bool largest) {
  const T left = x[a * step], right = x[b * step];
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(left) != std::isnan(right)) return std::isnan(left) == largest;
  }
  if (left > right) return largest;
  if (left < right) return !largest;
  return a < b;
}

struct TopKAttributes {
  int64_t axis = -1;
  bool largest = true, sorted = true;
  int64_t k = -1;  // attribute of version 1
};

template <typename T>
void TopKRow(const T* x, int64_t length, int64_t inner, int64_t k, bool largest, bool sorted, T* values,
             int64_t* indices, std::vector<int64_t>& order) {
  order.resize(static_cast<size_t>(length));
  std::iota(order.begin(), order.end(), int64_t{0});
  const auto before = [&](int64_t a, int64_t b) { return Before(x, inner, a, b, largest); };
  // Unsorted results may come in any order; theirs is that of the input, which is the same on every machine.
  std::partial_sort(order.begin(), order.begin() + k, order.end(), before);
  if (!sorted) std::sort(order.begin(), order.begin() + k);
  for (int64_t i = 0; i < k; ++i) {
    values[i * inner] = x[order[static_cast<size_t>(i)] * inner];
    indices[i * inner] = order[static_cast<size_t>(i)];
  }
}

Status RunTopK(KernelContext& context, const TopKAttributes& attributes) {
  RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
  RULERUN_ASSIGN(const int64_t axis, ResolveAxis(attributes.axis, x->rank()));
  int64_t k = attributes.k;
  if (const Tensor* input = context.Input(1)) {
    if (input->count() != 1) return Invalid("k must be one number");
    k = ElementAsInt(*input, 0);
  }
  const int64_t length = x->dims()[static_cast<size_t>(axis)];
  if (k < 0 || k > length)
    return Invalid("k = " + std::to_string(k) + " is out of range for an axis of " + std::to_string(length));
  Dims dims = x->dims();
  dims[static_cast<size_t>(axis)] = k;
  RULERUN_ASSIGN(Tensor * values, context.Output(0, x->type(), dims));
  RULERUN_ASSIGN(Tensor * indices, context.Output(1, DataType::kInt64, dims));
  if (values->count() == 0) return {};
  const int64_t outer = Product(x->dims(), 0, axis), inner = Product(x->dims(), axis + 1, x->rank());
  return DispatchNumber(x->type(), [&]<typename T>(TypeTag<T>) -> Status {
    context.pool().ParallelFor(outer * inner, std::max<int64_t>(1, 4096 / length), [&](int64_t begin, int64_t end) {
      std::vector<int64_t> order;
      for (int64_t r = begin; r < end; ++r) {
        const int64_t to = r / inner * k * inner + r % inner;
        TopKRow(x->data<T>() + r / inner * length * inner + r % inner, length, inner, k, attributes.largest,
                attributes.sorted, values->mutable_data<T>() + to, indices->mutable_data<int64_t>() + to, order);
      }
    });
    return {};
  });
}

Result<std::unique_ptr<Kernel>> MakeTopK(const KernelRequest& request) {
  TopKAttributes attributes;
  attributes.axis = IntOr(*request.attributes, "axis", -1);
  attributes.largest = IntOr(*request.attributes, "largest", 1) != 0;
  attributes.sorted = IntOr(*request.attributes, "sorted", 1) != 0;
  attributes.k = IntOr(*request.attributes, "k", -1);
  return MakeKernel([attributes](KernelContext& context) { return RunTopK(context, attributes); });
}

// Every element with all those before it: sums, or products.
template <bool kProduct>
Result<std::unique_ptr<Kernel>> MakeCumulative(const KernelRequest& request) {
  const bool exclusive = IntOr(*request.attributes, "exclusive", 0) != 0;
  const bool reverse = IntOr(*request.attributes, "reverse", 0) != 0;
  return MakeKernel([=](KernelContext& context) -> Status {
    RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
    RULERUN_ASSIGN(const Tensor* axis_tensor, Required(context, 1));
    if (axis_tensor->count() != 1) return Invalid("axis must be one number");
    RULERUN_ASSIGN(const int64_t axis, ResolveAxis(ElementAsInt(*axis_tensor, 0), x->rank()));
    RULERUN_ASSIGN(Tensor * y, context.Output(0, x->type(), x->dims()));
    const int64_t length = x->dims()[static_cast<size_t>(axis)], inner = Product(x->dims(), axis + 1, x->rank());
    if (x->count() == 0) return {};
    return Dispatch<float, double, int32_t, uint32_t, int64_t, uint64_t>(
        x->type(), [&]<typename T>(TypeTag<T>) -> Status {
          for (int64_t r = 0; r < x->count() / length; ++r) {
            const int64_t start = r / inner * length * inner + r % inner;
            T all = kProduct ? T{1} : T{0};
            for (int64_t i = 0; i < length; ++i) {
              const int64_t at = start + (reverse ? length - 1 - i : i) * inner;
              const T next = Wrapping(all, x->data<T>()[at], [](auto a, auto b) { return kProduct ? a * b : a + b; });
              y->mutable_data<T>()[at] = exclusive ? all : next;
              all = next;
            }
          }
          return {};
        });
  });
}

// Slices along one axis, or single elements, compared as tuples.
struct Slices {
  int64_t outer = 1, count = 0, inner = 1;
};

template <typename T>
int Compare(const T* x, const Slices& slices, int64_t a, int64_t b) {
  for (int64_t o = 0; o < slices.outer; ++o) {
    for (int64_t i = 0; i < slices.inner; ++i) {
      const T& left = x[(o * slices.count + a) * slices.inner + i];
      const T& right = x[(o * slices.count + b) * slices.inner + i];
      if (left < right) return -1;
      if (right < left) return 1;
    }
  }
  return 0;
}

template <typename T>
Status RunUnique(KernelContext& context, const Tensor& x, const Slices& slices, Dims dims, size_t axis, bool sorted) {
  const T* from = Elements<T>(x);
  std::vector<int64_t> order(static_cast<size_t>(slices.count));
  std::iota(order.begin(), order.end(), int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return Compare(from, slices, a, b) < 0; });
  std::vector<int64_t> firsts, counts, group(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || Compare(from, slices, order[i - 1], order[i]) != 0) {
      firsts.push_back(order[i]);
      counts.push_back(0);
    }
    ++counts.back();
    group[static_cast<size_t>(order[i])] = static_cast<int64_t>(firsts.size()) - 1;
  }
  // Without sorting, groups come in the order of their first members.
  std::vector<int64_t> rank(firsts.size());
  std::iota(rank.begin(), rank.end(), int64_t{0});
  if (!sorted) {
    std::sort(rank.begin(), rank.end(),
              [&](int64_t a, int64_t b) { return firsts[static_cast<size_t>(a)] < firsts[static_cast<size_t>(b)]; });
  }
  std::vector<int64_t> place(rank.size()), first_out, count_out, inverse;
  for (size_t i = 0; i < rank.size(); ++i) {
    place[static_cast<size_t>(rank[i])] = static_cast<int64_t>(i);
    first_out.push_back(firsts[static_cast<size_t>(rank[i])]);
    count_out.push_back(counts[static_cast<size_t>(rank[i])]);
  }
  for (const int64_t g : group) inverse.push_back(place[static_cast<size_t>(g)]);
  dims[axis] = static_cast<int64_t>(rank.size());
  RULERUN_ASSIGN(Tensor * y, context.Output(0, x.type(), std::move(dims)));
  T* to = MutableElements<T>(*y);
  for (int64_t o = 0; o < slices.outer; ++o) {
    for (const int64_t first : first_out) {
      const T* block = from + (o * slices.count + first) * slices.inner;
      to = std::copy(block, block + slices.inner, to);
    }
  }
  context.SetOutput(1, Tensor::Vector(first_out));
  context.SetOutput(2, Tensor::Vector(inverse));
  context.SetOutput(3, Tensor::Vector(count_out));
  return {};
}

Result<std::unique_ptr<Kernel>> MakeUnique(const KernelRequest& request) {
  const bool flat = !request.attributes->contains("axis");
  const int64_t given_axis = IntOr(*request.attributes, "axis", 0);
  const bool sorted = IntOr(*request.attributes, "sorted", 1) != 0;
  return MakeKernel([=](KernelContext& context) -> Status {
    RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
    int64_t axis = 0;
    if (!flat) {
      RULERUN_ASSIGN(axis, ResolveAxis(given_axis, x->rank()));
    }
    Slices slices{1, x->count(), 1};
    if (!flat) {
      slices = {Product(x->dims(), 0, axis), x->dims()[static_cast<size_t>(axis)],
                Product(x->dims(), axis + 1, x->rank())};
    }
    const Dims dims = flat ? Dims{0} : x->dims();
    const auto a = static_cast<size_t>(axis);
    if (x->type() == DataType::kString) return RunUnique<std::string>(context, *x, slices, dims, a, sorted);
    if (x->type() == DataType::kBool) return RunUnique<bool>(context, *x, slices, dims, a, sorted);
    return DispatchNumber(x->type(),
                          [&]<typename T>(TypeTag<T>) { return RunUnique<T>(context, *x, slices, dims, a, sorted); });
  });
}

}  // namespace

void Register_ops_order(KernelRegistry& registry) {
  AddOp(registry, "TopK", {}, {NumberTypes(), {DataType::kInt64}}, MakeTopK);
  const Types sums = {DataType::kFloat,  DataType::kDouble, DataType::kInt32,
                      DataType::kUint32, DataType::kInt64,  DataType::kUint64};
  AddOp(registry, "CumSum", {}, {sums, IndexTypes()}, MakeCumulative<false>);
  AddOp(registry, "CumProd", {}, {sums, IndexTypes()}, MakeCumulative<true>);
  Types unique = NumberTypes();
  unique.insert(unique.end(), {DataType::kBool, DataType::kString});
  AddOp(registry, "Unique", {}, {unique}, MakeUnique);
}

}  // namespace rulerun
