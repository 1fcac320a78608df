// NonMaxSuppression: per class the boxes with the best scores, none of which overlaps a better one too much.
#include <algorithm>
#include <array>

#include "kernels/ops/op.h"

namespace rulerun {
namespace {

struct Box {
  float top, left, bottom, right;

  float area() const { return (bottom - top) * (right - left); }
};

// Four numbers: two opposite corners, or the centre and the sizes.
Box ReadBox(const float* given, bool centre) {
  if (!centre) {
    const auto [top, bottom] = std::minmax(given[0], given[2]);
    const auto [left, right] = std::minmax(given[1], given[3]);
    return {top, left, bottom, right};
  }
  const float half_width = given[2] / 2, half_height = given[3] / 2;
  return {given[1] - half_height, given[0] - half_width, given[1] + half_height, given[0] + half_width};
}

bool OverlapsTooMuch(const Box& a, const Box& b, float threshold) {
  const Box common{std::max(a.top, b.top), std::max(a.left, b.left), std::min(a.bottom, b.bottom),
                   std::min(a.right, b.right)};
  if (common.right <= common.left || common.bottom <= common.top) return false;
  const float both = a.area() + b.area() - common.area();
  return a.area() > 0 && b.area() > 0 && both > 0 && common.area() / both > threshold;
}

struct Limits {
  int64_t boxes = 0;  // per class
  float overlap = 0;
  const float* score = nullptr;  // boxes need more than this; nullptr: all do
};

// Indices of the boxes that stay, the best first; of equal ones the one that stands first.
std::vector<int64_t> Select(const std::vector<Box>& boxes, const float* scores, const Limits& limits) {
  std::vector<int64_t> order;
  for (int64_t i = 0; i < static_cast<int64_t>(boxes.size()); ++i) {
    if (limits.score == nullptr || scores[i] > *limits.score) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return scores[a] > scores[b]; });
  std::vector<int64_t> selected;
  for (const int64_t candidate : order) {
    if (static_cast<int64_t>(selected.size()) >= limits.boxes) break;
    const bool alone = std::none_of(selected.begin(), selected.end(), [&](int64_t better) {
      return OverlapsTooMuch(boxes[static_cast<size_t>(candidate)], boxes[static_cast<size_t>(better)], limits.overlap);
    });
    if (alone) selected.push_back(candidate);
  }
  return selected;
}

Result<const Tensor*> OneNumber(const KernelContext& context, size_t slot) {
  const Tensor* tensor = context.Input(slot);
  if (tensor != nullptr && tensor->count() != 1)
    return Invalid("input " + std::to_string(slot) + " must be one number");
  return tensor;
}

Status RunNonMaxSuppression(bool centre, KernelContext& context) {
  RULERUN_ASSIGN(const Tensor* boxes, Required(context, 0));
  RULERUN_ASSIGN(const Tensor* scores, Required(context, 1));
  if (boxes->rank() != 3 || scores->rank() != 3 || boxes->dims()[2] != 4 || scores->dims()[0] != boxes->dims()[0] ||
      scores->dims()[2] != boxes->dims()[1]) {
    return Invalid("boxes of shape " + DimsText(boxes->dims()) + " and scores of shape " + DimsText(scores->dims()) +
                   " do not fit each other");
  }
  RULERUN_ASSIGN(const Tensor* count, OneNumber(context, 2));
  RULERUN_ASSIGN(const Tensor* overlap, OneNumber(context, 3));
  RULERUN_ASSIGN(const Tensor* score, OneNumber(context, 4));
  Limits limits;
  if (count != nullptr) limits.boxes = ElementAsInt(*count, 0);
  if (overlap != nullptr) limits.overlap = *overlap->data<float>();
  if (score != nullptr) limits.score = score->data<float>();
  const int64_t classes = scores->dims()[1], per_image = boxes->dims()[1];
  std::vector<std::array<int64_t, 3>> rows;
  for (int64_t image = 0; image < boxes->dims()[0]; ++image) {
    std::vector<Box> of_image;
    for (int64_t i = 0; i < per_image; ++i) {
      of_image.push_back(ReadBox(boxes->data<float>() + (image * per_image + i) * 4, centre));
    }
    for (int64_t c = 0; c < classes; ++c) {
      const float* of_class = scores->data<float>() + (image * classes + c) * per_image;
      for (const int64_t index : Select(of_image, of_class, limits)) rows.push_back({image, c, index});
    }
  }
  RULERUN_ASSIGN(Tensor * y, context.Output(0, DataType::kInt64, {static_cast<int64_t>(rows.size()), 3}));
  for (size_t i = 0; i < rows.size(); ++i)
    std::copy(rows[i].begin(), rows[i].end(), y->mutable_data<int64_t>() + 3 * i);
  return {};
}

Result<std::unique_ptr<Kernel>> MakeNonMaxSuppression(const KernelRequest& request) {
  const bool centre = IntOr(*request.attributes, "center_point_box", 0) != 0;
  return MakeKernel([centre](KernelContext& context) { return RunNonMaxSuppression(centre, context); });
}

}  // namespace

void Register_ops_non_max_suppression(KernelRegistry& registry) {
  const Types floats = {DataType::kFloat};
  AddOp(registry, "NonMaxSuppression", {}, {floats, floats, {DataType::kInt64}, floats, floats}, MakeNonMaxSuppression);
}

}  // namespace rulerun
