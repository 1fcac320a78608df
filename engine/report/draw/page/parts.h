// The fixed parts of a page with pictures. For the .cc files of engine/report/draw only.
#ifndef RULERUN_ENGINE_REPORT_DRAW_PAGE_PARTS_H_
#define RULERUN_ENGINE_REPORT_DRAW_PAGE_PARTS_H_

namespace rulerun::page {

extern const char kDrawPage[];  // with {{title}}, {{style}}, {{script}}, {{data}} and {{pictures}}
extern const char kDrawStyle[];
extern const char kDrawScript[];

}  // namespace rulerun::page

#endif  // RULERUN_ENGINE_REPORT_DRAW_PAGE_PARTS_H_
