// Values that rules and passes made, called by what they stem from in the model.
#ifndef RULERUN_ENGINE_REPORT_USER_NAMES_H_
#define RULERUN_ENGINE_REPORT_USER_NAMES_H_

#include "engine/pipeline/trace.h"

namespace rulerun {

// Refusals speak of values by their names when the rule was tried. In those of `trace` a value that a rule or pass made
// becomes "'x' (here 'x_made', made by 'Rule')", and "'x'" where it is named again.
void NameAsInTheModel(Trace& trace);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_REPORT_USER_NAMES_H_
