#include "engine/base/result.h"

#include "engine/base/codes.h"

namespace rulerun {

ErrorKind Error::kind() const {
  switch (Name(code).front()) {
    case 'U':
      return ErrorKind::kUsage;
    case 'R':
      return ErrorKind::kRules;
    case 'M':
      return ErrorKind::kModel;
    case 'X':
      return ErrorKind::kRefused;
    case 'K':
      return ErrorKind::kUnsupported;
    default:
      return ErrorKind::kSystem;
  }
}

std::string ToString(const Error& error) {
  std::string text = error.place.empty() ? error.message : error.place + ": " + error.message;
  if (!error.remedy.empty()) text += "\n  " + error.remedy;
  for (const Error& other : error.more) text += "\n" + ToString(other);
  return text;
}

}  // namespace rulerun
