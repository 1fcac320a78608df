// AffineGrid: where the pixels of an image come from under an affine map, as GridSample wants to know it.
#include <algorithm>

#include "kernels/ops/op.h"

namespace rulerun {
namespace {

// Position of pixel `index` of `size` in [-1, 1].
template <typename T>
T Centre(int64_t index, int64_t size, bool align_corners) {
  if (!align_corners) return (2 * static_cast<T>(index) + 1) / static_cast<T>(size) - 1;
  return size == 1 ? T{-1} : 2 * static_cast<T>(index) / static_cast<T>(size - 1) - 1;
}

template <typename T>
void Fill(const Tensor& theta, const Dims& sizes, bool align_corners, Tensor& grid) {
  const auto axes = static_cast<int64_t>(sizes.size());
  const int64_t pixels = Product(sizes, 0, axes);
  std::vector<T> place(sizes.size() + 1, T{1});  // the last axis first, as in theta; then 1
  for (int64_t i = 0; i < grid.count() / axes; ++i) {
    int64_t rest = i % pixels;
    for (size_t a = sizes.size(); a-- > 0; rest /= sizes[a]) {
      place[sizes.size() - 1 - a] = Centre<T>(rest % sizes[a], sizes[a], align_corners);
    }
    const T* row = theta.data<T>() + i / pixels * axes * (axes + 1);
    for (int64_t a = 0; a < axes; ++a, row += axes + 1) {
      T sum = 0;
      for (size_t k = 0; k < place.size(); ++k) sum += row[k] * place[k];
      grid.mutable_data<T>()[i * axes + a] = sum;
    }
  }
}

Result<std::unique_ptr<Kernel>> MakeAffineGrid(const KernelRequest& request) {
  const bool align_corners = IntOr(*request.attributes, "align_corners", 0) != 0;
  return MakeKernel([align_corners](KernelContext& context) -> Status {
    RULERUN_ASSIGN(const Tensor* theta, Required(context, 0));
    RULERUN_ASSIGN(const Tensor* size, Required(context, 1));
    const Dims whole = ToInts(*size);
    const int64_t axes = static_cast<int64_t>(whole.size()) - 2;
    if ((axes != 2 && axes != 3) || theta->dims() != Dims{whole[0], axes, axes + 1}) {
      return Invalid("theta of shape " + DimsText(theta->dims()) + " does not fit a size of " + DimsText(whole));
    }
    const Dims sizes(whole.begin() + 2, whole.end());
    Dims dims = {whole[0]};
    dims.insert(dims.end(), sizes.begin(), sizes.end());
    dims.push_back(axes);
    RULERUN_ASSIGN(Tensor * grid, context.Output(0, theta->type(), dims));
    return Dispatch<float, double>(theta->type(), [&]<typename T>(TypeTag<T>) -> Status {
      Fill<T>(*theta, sizes, align_corners, *grid);
      return {};
    });
  });
}

}  // namespace

void Register_ops_affine_grid(KernelRegistry& registry) {
  AddOp(registry, "AffineGrid", {}, {FloatTypes(), {DataType::kInt64}}, MakeAffineGrid);
}

}  // namespace rulerun
