// Coverage as one HTML file that needs nothing else.
#ifndef RULERUN_ENGINE_REPORT_COVERAGE_HTML_H_
#define RULERUN_ENGINE_REPORT_COVERAGE_HTML_H_

#include <string>
#include <vector>

#include "engine/report/totals.h"

namespace rulerun {

// A report's graph, as rewritten.
struct Picture {
  size_t report = 0;  // index in CoverageRun::reports
  std::string data;   // GraphData: the page draws parts of it
  std::string svg;    // the whole of it, in which all that comes from the model is escaped; "" where it is too large
};

// Works from file://, loads nothing, and shows names of the model as text only. `style`: rules for the pictures.
std::string ToHtml(const CoverageRun& run, const std::vector<Picture>& pictures, const std::string& style);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_REPORT_COVERAGE_HTML_H_
