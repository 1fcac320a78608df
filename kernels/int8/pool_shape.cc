#include "kernels/int8/pool_shape.h"

#include <limits>
#include <string>
#include <vector>

#include "engine/base/codes.h"
#include "kernels/int8/params.h"

namespace rulerun::int8 {

int64_t PoolShape::Taps() const {
  const std::array<int64_t, 3> kernel = {axes[0].kernel, axes[1].kernel, axes[2].kernel};
  return ElementCount(kernel).value_or(std::numeric_limits<int64_t>::max());
}

Result<PoolShape> ResolvePool(const WindowAttributes& attributes, const Dims& x, bool channels_last,
                              std::string_view op) {
  const size_t rank = x.size();
  if (rank < 3) return OpError(op, "X" + ToText(x) + " must have at least 3 axes");
  if (rank > 5) {
    return Error{Code::kKernelLimit, std::string(op) + ": more than 3 spatial axes: X" + ToText(x), "", ""};
  }
  if (attributes.kernel.empty()) return OpError(op, "attribute 'kernel_shape' is missing");
  PoolShape shape;
  shape.batch = x[0];
  shape.channels = channels_last ? x.back() : x[1];
  const auto spatial = std::span(x).subspan(channels_last ? 1 : 2, rank - 2);
  if (!ElementCount(spatial).has_value()) return OpError(op, "X" + ToText(x) + " is too large");
  RULERUN_ASSIGN(const std::vector<Window> windows, ResolveWindows(attributes, spatial));
  shape.axes.fill(Window{1, 1, 1, 1, 1, 0, 0});
  shape.out = {shape.batch};
  if (!channels_last) shape.out.push_back(shape.channels);
  for (size_t i = 0; i < windows.size(); ++i) {
    shape.axes[3 - windows.size() + i] = windows[i];
    shape.out.push_back(windows[i].out);
  }
  if (channels_last) shape.out.push_back(shape.channels);
  return shape;
}

}  // namespace rulerun::int8
