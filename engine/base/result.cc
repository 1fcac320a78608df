#include "engine/base/result.h"

namespace rulerun {

std::string ToString(const Error& error) {
  std::string text = error.place.empty() ? error.message : error.place + ": " + error.message;
  if (!error.remedy.empty()) text += "\n  " + error.remedy;
  return text;
}

}  // namespace rulerun
