// Why a node was not made int8: the most telling of what the rules said about it.
#ifndef RULERUN_ENGINE_REPORT_REASONS_H_
#define RULERUN_ENGINE_REPORT_REASONS_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/pipeline/trace.h"
#include "engine/report/rule_ops.h"
#include "engine/ruleset/ruleset.h"
#include "engine/ruleset/target.h"

namespace rulerun {

struct Reason {
  enum class Kind {
    kRefused,       // a rule looked at it and a check or condition did not hold
    kUnsupported,   // the rule set lists the operator as unsupported
    kNoRule,        // no rule speaks of the operator
    kNotQuantized,  // rules do, but neither inputs nor outputs are quantized
    kLevel,         // rules do, at a higher level
    kDisabled,      // rules do, and are switched off
  };
  Kind kind = Kind::kNoRule;
  std::string rule;     // kRefused
  std::string check;    // kRefused
  std::string message;  // a sentence
  std::string place;    // file:line:column of the condition or entry, or ""

  // "rule 'Conv', close: message", or the message.
  std::string Text() const;
  // What is the same for many nodes, for counting: without names of the model.
  std::string Short() const;
};
std::string_view Name(Reason::Kind kind);  // "refused", "unsupported", "no-rule", "not-quantized", "level", "disabled"
Code CodeOf(Reason::Kind kind);

// The trace by original node.
class TraceIndex {
 public:
  explicit TraceIndex(const Trace& trace);

  // Entries whose anchor stands for `node`, in order.
  const std::vector<const TraceEntry*>& Anchored(const std::string& node) const;
  // Entries that fired and concern `node` at all.
  const std::vector<const TraceEntry*>& Fired(const std::string& node) const;

 private:
  using Entries = std::map<std::string, std::vector<const TraceEntry*>>;
  Entries anchored_;
  Entries fired_;
};

// `names`: of the node in the original model, and of what stands for it now; `op`: in the original model.
Reason ReasonFor(const RuleSet& rules, const Target& target, const TraceIndex& trace,
                 const std::vector<std::string>& names, const std::string& op);

// How far a rule got before `check` refused: the higher, the nearer it was to fire.
int Nearness(std::string_view check);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_REPORT_REASONS_H_
