// Collects the errors of a rule set, so that one run shows several of them.
#ifndef RULERUN_ENGINE_RULESET_DIAGNOSTICS_H_
#define RULERUN_ENGINE_RULESET_DIAGNOSTICS_H_

#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/ruleset/location.h"

namespace rulerun {

class Diagnostics {
 public:
  void Add(Code code, const Location& where, std::string message, std::string remedy = "");
  void Add(Error error);
  bool ok() const { return errors_.empty(); }
  size_t size() const { return errors_.size(); }
  // The first error, with all others in its `more`. There must be one.
  Error Take();

 private:
  std::vector<Error> errors_;
};

}  // namespace rulerun

#endif  // RULERUN_ENGINE_RULESET_DIAGNOSTICS_H_
