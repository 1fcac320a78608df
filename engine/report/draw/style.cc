// The style sheet of the pictures.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "engine/report/draw/escape.h"
#include "engine/report/draw/measure.h"
#include "engine/report/draw/style.h"

namespace rulerun {
namespace {

struct ToneStyle {
  Tone tone;
  Paint light;
  Paint dark;
  std::string_view more;  // further properties of the box
};

// Told apart by the colour-blind too: blue for int8, orange to red for float; what changes hands is dashed.
constexpr auto kToneStyles = std::to_array<ToneStyle>({
    {Tone::kInt8, {"#dcebfb", "#2f7ed8"}, {"#15304d", "#5aa2f0"}, ""},
    {Tone::kMoved, {"#e0f3ef", "#2f9c8c"}, {"#12352f", "#4cc0ae"}, ""},
    {Tone::kFloat, {"#fdf1da", "#d6952a"}, {"#3b2d10", "#dba544"}, ""},
    {Tone::kRefused, {"#fddfd0", "#df5a1f"}, {"#4a2210", "#f07f4c"}, "stroke-width:2.2"},
    {Tone::kUnsupported, {"#fbdde3", "#cc3d58"}, {"#471a24", "#ea6c83"}, ""},
    {Tone::kConversion, {"#ebe4fa", "#8360c5"}, {"#2c2244", "#a98be6"}, ""},
    {Tone::kInserted, {"#fff8c5", "#a69200"}, {"#37320c", "#cbb835"}, "stroke-dasharray:5 3"},
    {Tone::kGone, {"#f7f8f9", "#b4bcc5"}, {"#1a1f25", "#565f6a"}, "stroke-dasharray:3 3"},
    {Tone::kOther, {"#eff1f4", "#9aa4af"}, {"#262c34", "#78828e"}, ""},
    {Tone::kBoundary, {"#ffffff", "#5f6b77"}, {"#1b2128", "#8d99a6"}, ""},
    {Tone::kElsewhere, {"#ffffff", "#9aa4af"}, {"#14181d", "#78828e"}, "stroke-dasharray:2 3"},
});

struct EdgeStyle {
  Carries carries;
  std::string_view light;
  std::string_view dark;
  std::string_view more;
};

constexpr auto kEdgeStyles = std::to_array<EdgeStyle>({
    {Carries::kInt8, "#2f7ed8", "#5aa2f0", "stroke-width:2"},
    {Carries::kFloat, "#d6952a", "#dba544", "stroke-width:1.5"},
    {Carries::kOther, "#9aa4af", "#78828e", "stroke-width:1.2;stroke-dasharray:4 3"},
});

std::string Rule(const std::string& selector, const std::string& properties) {
  return selector + "{" + properties + "}\n";
}

bool Uses(const std::array<size_t, kTones.size()>& counts, Tone tone) { return counts[static_cast<size_t>(tone)] > 0; }

std::string Colours(const std::string& scope, bool dark, const std::array<size_t, kTones.size()>& counts) {
  const auto pick = [&](std::string_view light_one, std::string_view dark_one) {
    return std::string(dark ? dark_one : light_one);
  };
  std::string css;
  css += Rule(scope + " .rr-bg", "fill:" + pick("#ffffff", "#14181d"));
  css += Rule(scope + " text", "fill:" + pick("#1c2329", "#e6e9ed"));
  css += Rule(scope + " .rr-s", "fill:" + pick("#57626d", "#9ba6b2"));
  css += Rule(scope + " .rr-l", "fill:" + pick("#57626d", "#9ba6b2") + ";stroke:" + pick("#ffffff", "#14181d"));
  css += Rule(scope + " .rr-f", "fill:" + pick("#fbfcfd", "#181d23") + ";stroke:" + pick("#c9d0d7", "#3a434d"));
  for (const ToneStyle& style : kToneStyles) {
    if (!Uses(counts, style.tone)) continue;
    const Paint& paint = dark ? style.dark : style.light;
    css += Rule(scope + " .rr-" + std::string(Name(style.tone)) + ">rect",
                "fill:" + std::string(paint.fill) + ";stroke:" + std::string(paint.line));
  }
  for (const EdgeStyle& style : kEdgeStyles) {
    const std::string colour = pick(style.light, style.dark);
    css += Rule(scope + " .rr-e-" + std::string(Name(style.carries)), "stroke:" + colour);
    css += Rule(scope + " .rr-a-" + std::string(Name(style.carries)), "fill:" + colour);
  }
  return css;
}

std::string Shapes(const std::array<size_t, kTones.size()>& counts) {
  std::string css;
  css +=
      Rule(".rr text", "font-family:Helvetica,Arial,'Liberation Sans',sans-serif;font-size:" + ShortNumber(kTextSize) +
                           "px;text-anchor:middle");
  css += Rule(".rr .rr-t", "font-size:" + ShortNumber(kTitleSize) + "px;font-weight:bold");
  css += Rule(".rr .rr-l",
              "font-size:" + ShortNumber(kLabelSize) + "px;stroke-width:5px;paint-order:stroke;stroke-linejoin:round");
  css += Rule(".rr .rr-k", "text-anchor:start");
  css += Rule(".rr .rr-h", "text-anchor:start;font-size:15px;font-weight:bold");
  css += Rule(".rr .rr-n>rect", "stroke-width:1.3");
  css += Rule(".rr .rr-e", "fill:none");
  css += Rule(".rr .rr-f", "stroke-width:1");
  css += Rule(".rr .rr-m>rect", "stroke-width:3.4");
  css += Rule(".rr .rr-c>rect", "fill-opacity:.35");
  for (const ToneStyle& style : kToneStyles) {
    if (style.more.empty() || !Uses(counts, style.tone)) continue;
    css += Rule(".rr .rr-" + std::string(Name(style.tone)) + ">rect", std::string(style.more));
  }
  for (const EdgeStyle& style : kEdgeStyles) {
    css += Rule(".rr .rr-e-" + std::string(Name(style.carries)), std::string(style.more));
  }
  return css;
}

}  // namespace

Paint LightPaint(Tone tone) {
  const auto* style =
      std::find_if(kToneStyles.begin(), kToneStyles.end(), [&](const ToneStyle& s) { return s.tone == tone; });
  return style == kToneStyles.end() ? Paint{} : style->light;
}

std::string_view LightLine(Carries carries) {
  const auto* style =
      std::find_if(kEdgeStyles.begin(), kEdgeStyles.end(), [&](const EdgeStyle& s) { return s.carries == carries; });
  return style == kEdgeStyles.end() ? std::string_view() : style->light;
}

std::string FileStyle(const std::array<size_t, kTones.size()>& counts) {
  return Shapes(counts) + Colours(".rr", false, counts) + "@media(prefers-color-scheme:dark){\n" +
         Colours(".rr", true, counts) + "}\n";
}

std::string PageStyle() {
  std::array<size_t, kTones.size()> all{};
  all.fill(1);
  return Shapes(all) + Colours(".rr", false, all) + "@media(prefers-color-scheme:dark){\n" +
         Colours(":root:not([data-theme=light]) .rr", true, all) + "}\n" +
         Colours(":root[data-theme=dark] .rr", true, all);
}

}  // namespace rulerun
