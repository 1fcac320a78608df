// What tests of reports share.
#ifndef RULERUN_TESTS_ENGINE_REPORT_REPORT_TEST_UTIL_H_
#define RULERUN_TESTS_ENGINE_REPORT_REPORT_TEST_UTIL_H_

#include "engine/ruleset/ruleset.h"

namespace rulerun {

// The shipped rule set ort130, read once.
const RuleSet& Rules();

}  // namespace rulerun

#endif  // RULERUN_TESTS_ENGINE_REPORT_REPORT_TEST_UTIL_H_
