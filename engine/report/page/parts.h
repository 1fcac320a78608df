// The fixed parts of HTML reports. For the .cc files of engine/report only.
#ifndef RULERUN_ENGINE_REPORT_PAGE_PARTS_H_
#define RULERUN_ENGINE_REPORT_PAGE_PARTS_H_

namespace rulerun::page {

extern const char kCoveragePage[];  // with {{style}}, {{script}}, {{data}} and {{pictures}}
extern const char kCoverageStyle[];
extern const char kCoverageScript[];

}  // namespace rulerun::page

#endif  // RULERUN_ENGINE_REPORT_PAGE_PARTS_H_
