// Puts texts into the fixed parts of a page.
#ifndef RULERUN_ENGINE_REPORT_PAGE_TEXT_H_
#define RULERUN_ENGINE_REPORT_PAGE_TEXT_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rulerun {

// `page` with each {{name}} replaced by the text of that name, once: what is in the texts stays as it is.
std::string FillPage(std::string_view page, const std::vector<std::pair<std::string_view, std::string>>& texts);

// JSON that may stand inside a <script> element: nothing in it can end the element or begin a comment.
std::string InScript(std::string_view json);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_REPORT_PAGE_TEXT_H_
