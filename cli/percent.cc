#include "cli/percent.h"

#include <cmath>

namespace rulerun::cli {

std::string Percent(double share) {
  constexpr double kLost = 1e-9;  // 0.57 is a little less than 57 of 100
  const auto tenths = static_cast<int>(std::floor(1000.0 * share + kLost));
  const int rest = tenths % 10;
  return std::to_string(tenths / 10) + (rest == 0 ? "" : "." + std::to_string(rest)) + " %";
}

}  // namespace rulerun::cli
