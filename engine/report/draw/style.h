// The style sheets of the pictures.
#ifndef RULERUN_ENGINE_REPORT_DRAW_STYLE_H_
#define RULERUN_ENGINE_REPORT_DRAW_STYLE_H_

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "engine/report/draw/drawing.h"

namespace rulerun {

struct Paint {
  std::string_view fill;
  std::string_view line;
};
// On a light ground.
Paint LightPaint(Tone tone);
std::string_view LightLine(Carries carries);

// For a picture in a file of its own: light, or dark where the reader's system asks for it.
// `counts`: of CountTones; what is not there needs no style.
std::string FileStyle(const std::array<size_t, kTones.size()>& counts);

// For all pictures in a page: likewise, but data-theme="light" or "dark" at the root element decides where it is set.
std::string PageStyle();

}  // namespace rulerun

#endif  // RULERUN_ENGINE_REPORT_DRAW_STYLE_H_
