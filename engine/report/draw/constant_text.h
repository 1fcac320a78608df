// Constants in a few words, for boxes.
#ifndef RULERUN_ENGINE_REPORT_DRAW_CONSTANT_TEXT_H_
#define RULERUN_ENGINE_REPORT_DRAW_CONSTANT_TEXT_H_

#include <string>

#include "engine/graph/tensor.h"

namespace rulerun {

// "int8 8×3×3×3", "float scalar"; short ones with their values: "0.5", "[1, 2]".
std::string ShortText(const Tensor& tensor);
// A scale or zero point: its value, or "0.001 … 0.02 (8 values)".
std::string RangeText(const Tensor& tensor);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_REPORT_DRAW_CONSTANT_TEXT_H_
