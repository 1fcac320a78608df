#include "cli/percent.h"

#include <gtest/gtest.h>

namespace rulerun::cli {
namespace {

TEST(Percent, IsRoundedDownToATenth) {
  EXPECT_EQ(Percent(0), "0 %");
  EXPECT_EQ(Percent(1), "100 %");
  EXPECT_EQ(Percent(0.5), "50 %");
  EXPECT_EQ(Percent(9999.0 / 10000), "99.9 %");  // 100 % is all of them
  EXPECT_EQ(Percent(11.0 / 18), "61.1 %");
  EXPECT_EQ(Percent(1.0 / 2001), "0 %");
  for (int tenths = 0; tenths <= 1000; ++tenths) {  // exact ones stay, however they are divided
    const std::string rest = tenths % 10 == 0 ? "" : "." + std::to_string(tenths % 10);
    EXPECT_EQ(Percent(tenths / 1000.0), std::to_string(tenths / 10) + rest + " %");
  }
}

}  // namespace
}  // namespace rulerun::cli
