#include "tests/engine/report/report_test_util.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace rulerun {

const RuleSet& Rules() {
  static const auto& rules =
      *new Result<std::shared_ptr<const RuleSet>>(ReadRuleSet(std::string(RULERUN_SOURCE_DIR) + "/rules/ort130.yaml"));
  EXPECT_TRUE(rules.ok()) << ToString(rules.error());
  return **rules;
}

}  // namespace rulerun
