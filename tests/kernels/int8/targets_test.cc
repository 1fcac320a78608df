// Choosing a SIMD target.
#include "kernels/int8/targets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace rulerun {
namespace {

TEST(Targets, ForceAndRelease) {
  const std::vector<std::string> all = SupportedTargets();
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(ActiveTarget(), all.front());
  for (const std::string& name : all) {
    ASSERT_TRUE(ForceTarget(name).ok());
    EXPECT_EQ(ActiveTarget(), name);
    EXPECT_EQ(SupportedTargets(), all);  // what is supported does not depend on what is forced
    EXPECT_EQ(ActiveTarget(), name);
  }
  ASSERT_TRUE(ForceTarget("scalar").ok());
  EXPECT_EQ(ActiveTarget(), all.back());
  ASSERT_TRUE(ForceTarget("auto").ok());
  EXPECT_EQ(ActiveTarget(), all.front());
}

TEST(Targets, UnknownName) {
  const Status status = ForceTarget("avx9");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind(), ErrorKind::kUsage);
  EXPECT_THAT(status.error().message, testing::HasSubstr("'avx9'"));
  EXPECT_THAT(status.error().remedy, testing::HasSubstr(SupportedTargets().front()));
}

TEST(Targets, Environment) {
  const std::vector<std::string> all = SupportedTargets();
  ASSERT_EQ(setenv("RULERUN_TARGET", all.back().c_str(), 1), 0);
  EXPECT_TRUE(ForceTargetFromEnvironment().ok());
  EXPECT_EQ(ActiveTarget(), all.back());
  ASSERT_EQ(setenv("RULERUN_TARGET", "nonsense", 1), 0);
  EXPECT_FALSE(ForceTargetFromEnvironment().ok());
  ASSERT_EQ(unsetenv("RULERUN_TARGET"), 0);
  EXPECT_TRUE(ForceTargetFromEnvironment().ok());
  ASSERT_TRUE(ForceTarget("auto").ok());
}

}  // namespace
}  // namespace rulerun
