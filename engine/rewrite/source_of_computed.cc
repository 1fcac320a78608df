// Which value of the graph a computed one stems from, for reports.
#include <algorithm>

#include "engine/rewrite/rewrite.h"

namespace rulerun {
namespace {

const Statement* LineOf(const Binding& binding, std::string_view name) {
  const auto in = [&](const std::vector<Statement>& lines) -> const Statement* {
    const auto line = std::find_if(lines.begin(), lines.end(), [&](const Statement& statement) {
      return std::any_of(statement.outputs.begin(), statement.outputs.end(),
                         [&](const OutputPattern& output) { return output.name == name; });
    });
    return line == lines.end() ? nullptr : &*line;
  };
  if (binding.taken_case != nullptr) {
    if (const Statement* line = in(binding.taken_case->compute)) return line;
  }
  return in(binding.rule().compute);
}

ValueId SourceOfCall(const Binding& binding, const Call& call) {
  for (const OperandPattern& operand : call.operands) {
    ValueId source = kNoValue;
    if (operand.kind == OperandPattern::Kind::kCall) source = SourceOfCall(binding, *operand.call);
    if (operand.kind == OperandPattern::Kind::kName) source = SourceOfComputed(binding, operand.name);
    if (source != kNoValue) return source;
  }
  return kNoValue;
}

}  // namespace

ValueId SourceOfComputed(const Binding& binding, std::string_view name) {
  if (const Statement* line = LineOf(binding, name)) {
    const Alternative& right = line->alternatives.front();
    return right.call ? SourceOfCall(binding, *right.call) : SourceOfComputed(binding, right.value);
  }
  const auto operands = binding.Operands(name);
  return operands && !operands->empty() && operands->front().present() ? operands->front().value : kNoValue;
}

}  // namespace rulerun
