#include "engine/report/docs/pipeline_list.h"

#include <algorithm>
#include <vector>

#include "engine/base/text.h"
#include "engine/report/docs/sentences.h"

namespace rulerun {
namespace {

std::string Codes(const std::vector<std::string>& names) {
  std::vector<std::string> codes;
  for (const std::string& name : names) codes.push_back(Code(name));
  return Join(codes, ", ");
}

std::string What(const Stage& stage) {
  switch (stage.kind) {
    case Stage::Kind::kRules:
      return "rules of " + Code(stage.file) + (stage.only.empty() ? "" : ": " + Codes(stage.only)) +
             (stage.walk_together ? ", in one walk" : "");
    case Stage::Kind::kPass:
      return "pass " + Code(stage.pass);
    case Stage::Kind::kGroup:
      return "together";
  }
  return "";
}

void Write(const Stage& stage, Level outer, const std::string& indent, std::string& text) {
  std::vector<std::string> parts = {What(stage)};
  if (stage.level > outer) parts.push_back("from level " + Code(std::string(Name(stage.level))) + " on");
  if (!stage.providers.empty()) parts.push_back("for " + Codes(stage.providers));
  if (!stage.gate_if.items.empty()) parts.push_back("if " + GateSentence(stage.gate_if));
  if (!stage.gate_unless.items.empty()) parts.push_back("unless " + GateSentence(stage.gate_unless));
  if (stage.loop > 1) parts.push_back("until nothing changes, at most " + std::to_string(stage.loop) + " times");
  if (stage.once) parts.emplace_back("in the first round only");
  text += indent + "- " + Join(parts, ", ") + "\n";
  for (const Stage& inner : stage.stages) Write(inner, std::max(outer, stage.level), indent + "  ", text);
}

}  // namespace

std::string PipelineList(const RuleSet& rules) {
  std::string text;
  for (const Stage& stage : rules.pipeline) Write(stage, Level::kDisabled, "", text);
  return text;
}

}  // namespace rulerun
