// Text of a model made safe for the formats that pictures are written in.
#ifndef RULERUN_ENGINE_REPORT_DRAW_ESCAPE_H_
#define RULERUN_ENGINE_REPORT_DRAW_ESCAPE_H_

#include <string>
#include <string_view>

namespace rulerun {

// For XML and HTML, in text and in quoted attributes. What is no UTF-8 or no character of XML becomes U+FFFD.
std::string XmlText(std::string_view text);
// A quoted string of Graphviz's language.
std::string DotString(std::string_view text);
// A number with at most one digit behind the point.
std::string ShortNumber(double value);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_REPORT_DRAW_ESCAPE_H_
