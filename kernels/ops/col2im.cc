// Col2Im: adds patches, each a column, up to images.
#include <algorithm>

#include "kernels/geometry.h"
#include "kernels/ops/op.h"

namespace rulerun {
namespace {

struct Job {
  std::vector<Window> axes;
  int64_t channels = 0, taps = 1, columns = 1, size = 1;  // columns: of one image
};

Result<Job> MakeJob(const WindowAttributes& attributes, const Tensor& x, const Dims& image, const Dims& block) {
  Job job;
  RULERUN_ASSIGN(job.axes, ResolveWindows(attributes, image, block));
  for (const Window& axis : job.axes) {
    job.taps *= axis.kernel;
    job.columns *= axis.out;
    job.size *= axis.in;
  }
  if (x.rank() != 3 || x.dims()[1] % job.taps != 0 || x.dims()[2] != job.columns) {
    return Invalid("an input of shape " + DimsText(x.dims()) + " does not hold " + std::to_string(job.columns) +
                   " patches of " + std::to_string(job.taps) + " pixels");
  }
  job.channels = x.dims()[1] / job.taps;
  return job;
}

// Where tap `tap` of patch `column` lies in the image, or -1 for outside.
int64_t Place(const Job& job, int64_t tap, int64_t column) {
  int64_t place = 0, step = 1;
  for (size_t a = job.axes.size(); a-- > 0;) {
    const Window& axis = job.axes[a];
    const int64_t at = axis.Start(column % axis.out) + tap % axis.kernel * axis.dilation;
    if (at < 0 || at >= axis.in) return -1;
    place += at * step;
    step *= axis.in;
    column /= axis.out;
    tap /= axis.kernel;
  }
  return place;
}

Status RunCol2Im(const WindowAttributes& attributes, KernelContext& context) {
  RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
  RULERUN_ASSIGN(const Tensor* image, Required(context, 1));
  RULERUN_ASSIGN(const Tensor* block, Required(context, 2));
  const Dims sizes = ToInts(*image);
  if (sizes.empty() || block->count() != image->count()) return Invalid("image_shape and block_shape do not fit");
  RULERUN_ASSIGN(const Job job, MakeJob(attributes, *x, sizes, ToInts(*block)));
  Dims dims = {x->dims()[0], job.channels};
  dims.insert(dims.end(), sizes.begin(), sizes.end());
  RULERUN_ASSIGN(Tensor * y, context.Output(0, x->type(), dims));
  return DispatchNumber(x->type(), [&]<typename T>(TypeTag<T>) -> Status {
    T* to = y->mutable_data<T>();
    std::fill_n(to, y->count(), T{0});
    for (int64_t i = 0; i < x->count(); ++i) {
      const int64_t row = i / job.columns;
      const int64_t place = Place(job, row % job.taps, i % job.columns);
      if (place < 0) continue;
      T& pixel = to[row / job.taps * job.size + place];
      pixel = Wrapping(pixel, x->data<T>()[i], [](auto a, auto b) { return a + b; });
    }
    return {};
  });
}

Result<std::unique_ptr<Kernel>> MakeCol2Im(const KernelRequest& request) {
  RULERUN_ASSIGN(const WindowAttributes attributes, ReadWindowAttributes(*request.attributes));
  return MakeKernel([attributes](KernelContext& context) { return RunCol2Im(attributes, context); });
}

}  // namespace

void Register_ops_col2im(KernelRegistry& registry) {
  AddOp(registry, "Col2Im", {}, {NumberTypes(), {DataType::kInt64}, {DataType::kInt64}}, MakeCol2Im);
}

}  // namespace rulerun
