// The pipeline of a rule set as a list.
#ifndef RULERUN_ENGINE_REPORT_DOCS_PIPELINE_LIST_H_
#define RULERUN_ENGINE_REPORT_DOCS_PIPELINE_LIST_H_

#include <string>

#include "engine/ruleset/ruleset.h"

namespace rulerun {

// A nested list in Markdown: the stages in their order, with what they depend on.
std::string PipelineList(const RuleSet& rules);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_REPORT_DOCS_PIPELINE_LIST_H_
