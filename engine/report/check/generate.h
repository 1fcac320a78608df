// Writes the smallest graphs that look like a rule's text.
#ifndef RULERUN_ENGINE_REPORT_CHECK_GENERATE_H_
#define RULERUN_ENGINE_REPORT_CHECK_GENERATE_H_

#include <optional>
#include <string>
#include <vector>

#include "engine/ruleset/ruleset.h"

namespace rulerun {

// One way to choose where the text and the conditions leave a choice.
struct Choice {
  size_t alternative = 0;  // of each line: this one, or the last
  size_t op = 0;           // of each call: this operator of its list, or the last
  const Case* taken = nullptr;
  bool optionals = true;                  // operands that may be left out are there
  int rank = 2;                           // of values that nothing says a rank of; every dimension is 1
  DataType preferred = DataType::kFloat;  // where the text and the schemas allow it
};

// ONNX text of a graph with a node for each line of the text, constants where conditions ask for them, and the numbers
// that simple conditions ask for. Nothing promises that the rule matches it: that is for a run to show.
// std::nullopt: the text has something that is not written this way (`each`).
std::optional<std::string> GenerateGraph(const RuleSet& rules, const RuleFile& file, const Rule& rule,
                                         const Choice& choice);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_REPORT_CHECK_GENERATE_H_
