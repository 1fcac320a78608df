#include "engine/report/coverage_html.h"

#include "engine/report/page/parts.h"
#include "engine/report/page_text.h"

namespace rulerun {
std::string ToHtml(const CoverageRun& run, const std::vector<Picture>& pictures, const std::string& style) {
  std::string figures;
  for (const Picture& picture : pictures) {
    const std::string report = " data-report=\"" + std::to_string(picture.report) + "\"";
    figures +=
        "<script type=\"application/json\" class=\"graph\"" + report + ">" + InScript(picture.data) + "</script>\n";
    if (picture.svg.empty()) continue;
    figures += "<figure class=\"picture whole\"" + report + " hidden>" + picture.svg + "</figure>\n";
  }
  return FillPage(page::kCoveragePage, {{"style", page::kCoverageStyle + style},
                                        {"pictures", figures},
                                        {"data", InScript(ToJson(run, -1))},
                                        {"script", page::kCoverageScript}});
}

}  // namespace rulerun
