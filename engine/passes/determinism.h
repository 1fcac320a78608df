// Which operators give the same result every time. For the .cc files of this folder only.
#ifndef RULERUN_ENGINE_PASSES_DETERMINISM_H_
#define RULERUN_ENGINE_PASSES_DETERMINISM_H_

#include <map>
#include <string>

#include "engine/passes/table.h"

namespace rulerun {

// By domain, as ONNX Runtime has it: all operators but some, or only some; of a domain not listed none.
class Determinism {
 public:
  // The map `deterministic` of the table: domain -> {except: [...]} or {only: [...]}.
  static Result<Determinism> Read(const Table& table);

  bool Has(const Node& node) const;

 private:
  struct Domain {
    OpNames ops;
    bool except = false;  // all but `ops`
  };
  std::map<std::string, Domain, std::less<>> domains_;
};

}  // namespace rulerun

#endif  // RULERUN_ENGINE_PASSES_DETERMINISM_H_
