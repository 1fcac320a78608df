// QLinearConcat (com.microsoft): inputs y_scale, y_zero_point, then x, x_scale, x_zero_point for each part.
#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/int8/params.h"
#include "kernels/kernel.h"

namespace rulerun {
namespace int8 {
namespace {

constexpr std::string_view kOp = "QLinearConcat";
constexpr int64_t kGrain = 32768;  // bytes worth a chunk of their own

struct Part {
  const Tensor* x = nullptr;
  std::optional<Table> table;  // none: copied as it is
  int64_t row = 0;             // elements per step of the axes before the concatenated one
  int64_t offset = 0;          // in the output's row
};

class QLinearConcat : public Kernel {
 public:
  explicit QLinearConcat(int64_t axis) : axis_(axis) {}

  Status Run(KernelContext& context) const override {
    if (context.InputCount() < 5 || (context.InputCount() - 2) % 3 != 0) {
      return OpError(kOp, "takes y_scale, y_zero_point and then groups of three inputs, but has " +
                              std::to_string(context.InputCount()));
    }
    std::vector<Part> parts((context.InputCount() - 2) / 3);
    RULERUN_RETURN_IF_ERROR(ReadParts(context, &parts));
    Dims dims = parts[0].x->dims();
    const auto rank = static_cast<int64_t>(dims.size());
    if (axis_ < -rank || axis_ >= rank) {
      return OpError(kOp, "axis " + std::to_string(axis_) + " is outside " + ToText(dims));
    }
    const auto axis = static_cast<size_t>(axis_ < 0 ? axis_ + rank : axis_);
    RULERUN_RETURN_IF_ERROR(Arrange(axis, &parts, &dims));
    RULERUN_ASSIGN(Tensor * y, context.Output(0, parts[0].x->type(), dims));
    const int64_t outer = ElementCount(std::span(dims).first(axis)).value_or(0);
    const int64_t row = parts.back().offset + parts.back().row;
    uint8_t* out = y->mutable_data<uint8_t>();
    if (y->count() == 0) return {};
    context.pool().ParallelFor(outer, std::max<int64_t>(1, kGrain / row), [&](int64_t begin, int64_t end) {
      for (const Part& part : parts) {
        for (int64_t i = begin; i < end; ++i) CopyRow(part, i, out + i * row + part.offset);
      }
    });
    return {};
  }

 private:
  static Status ReadParts(const KernelContext& context, std::vector<Part>* parts) {
    RULERUN_ASSIGN(const Tensor* first, EightBitInput(context, 2, kOp, "input 2"));
    const DataType type = first->type();
    RULERUN_ASSIGN(const Quantization to, ReadQuantization(context, 0, type, kOp, "Y"));
    for (size_t i = 0; i < parts->size(); ++i) {
      const size_t slot = 2 + 3 * i;
      const std::string name = "input " + std::to_string(slot);
      RULERUN_ASSIGN(const Tensor* x, EightBitInput(context, slot, kOp, name));
      if (x->type() != type) return OpError(kOp, name + " has another type than input 2");
      RULERUN_ASSIGN(const Quantization from, ReadQuantization(context, slot + 1, type, kOp, name));
      (*parts)[i].x = x;
      if (!(from == to)) {
        (*parts)[i].table = MakeTable(type == DataType::kInt8, from, to, [](float v) { return v; });
      }
    }
    return {};
  }

  // Sets rows and offsets, and grows the axis of *dims.
  static Status Arrange(size_t axis, std::vector<Part>* parts, Dims* dims) {
    int64_t offset = 0;
    const Dims first = *dims;
    (*dims)[axis] = 0;
    for (Part& part : *parts) {
      Dims like = part.x->dims();
      const int64_t length = like.size() == first.size() ? like[axis] : 0;
      if (like.size() == first.size()) like[axis] = first[axis];
      if (like != first) return OpError(kOp, "cannot join " + ToText(part.x->dims()) + " to " + ToText(first));
      (*dims)[axis] += length;
      part.row = ElementCount(std::span(part.x->dims()).subspan(axis)).value_or(0);
      part.offset = offset;
      offset += part.row;
    }
    return {};
  }

  static void CopyRow(const Part& part, int64_t index, uint8_t* to) {
    const uint8_t* from = part.x->data<uint8_t>() + index * part.row;
    if (part.table.has_value()) {
      ApplyTable(*part.table, from, part.row, to);
    } else if (part.row > 0) {
      std::memcpy(to, from, static_cast<size_t>(part.row));
    }
  }

  int64_t axis_;
};

Result<std::unique_ptr<Kernel>> Make(const KernelRequest& request) {
  if (request.attributes->find("axis") == request.attributes->end()) return OpError(kOp, "attribute 'axis' is missing");
  return std::unique_ptr<Kernel>(std::make_unique<QLinearConcat>(IntOr(*request.attributes, "axis", 0)));
}

}  // namespace
}  // namespace int8

void Register_int8_qlinear_concat(KernelRegistry& registry) {
  registry.Add({"QLinearConcat", "com.microsoft", 1, 1, {int8::kFloatOnly, int8::kEightBitTypes}, int8::Make});
}

}  // namespace rulerun
