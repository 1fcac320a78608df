#include "engine/report/coverage_html.h"

#include "engine/report/page/parts.h"
#include "engine/report/page_text.h"

namespace rulerun {
std::string ToHtml(const CoverageRun& run, const std::vector<Picture>& pictures, const std::string& style) {
  std::string figures;
  for (const Picture& picture : pictures) {
    figures += "<figure class=\"picture\" data-report=\"" + std::to_string(picture.report) + "\" hidden>" +
               picture.svg + "</figure>\n";
  }
  return FillPage(page::kCoveragePage, {{"style", page::kCoverageStyle + style},
                                        {"pictures", figures},
                                        {"data", InScript(ToJson(run, -1))},
                                        {"script", page::kCoverageScript}});
}

}  // namespace rulerun
