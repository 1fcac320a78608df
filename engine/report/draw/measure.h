// How large text and boxes are. The writers draw with these sizes, and the layout makes room for them.
#ifndef RULERUN_ENGINE_REPORT_DRAW_MEASURE_H_
#define RULERUN_ENGINE_REPORT_DRAW_MEASURE_H_

#include <string>
#include <string_view>
#include <vector>

#include "engine/report/draw/drawing.h"
#include "engine/report/draw/layout/arrange.h"

namespace rulerun {

// In pixels.
inline constexpr double kTitleSize = 13;  // of type
inline constexpr double kTextSize = 10.5;
inline constexpr double kLabelSize = 9.5;
inline constexpr double kTitleLine = 16;  // heights of lines
inline constexpr double kTextLine = 13.5;
inline constexpr double kLabelLine = 12;
inline constexpr double kPaddingX = 11;  // inside a box
inline constexpr double kPaddingY = 6;
inline constexpr double kBodyGap = 14;  // around a subgraph

// Of text in Helvetica or a face of its widths; other characters count as wide ones.
double TextWidth(std::string_view text, double size);

// At most about `most` characters, the middle left out.
std::string Elide(std::string_view text, size_t most);

// Of what a box says, without subgraphs.
Size TextBox(const DrawnNode& node);

// The type that each output carries, by slot; "" for one that nothing reads.
std::vector<std::vector<std::string>> OutputLabels(const Drawing& drawing);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_REPORT_DRAW_MEASURE_H_
