// A place in a rule file.
#ifndef RULERUN_ENGINE_RULESET_LOCATION_H_
#define RULERUN_ENGINE_RULESET_LOCATION_H_

#include <memory>
#include <string>

namespace rulerun {

struct Location {
  std::shared_ptr<const std::string> file;  // nullptr: nowhere
  int line = 0;                             // from 1
  int column = 0;                           // from 1

  std::string ToString() const {
    if (file == nullptr) return "";
    return *file + ":" + std::to_string(line) + ":" + std::to_string(column);
  }
};

}  // namespace rulerun

#endif  // RULERUN_ENGINE_RULESET_LOCATION_H_
