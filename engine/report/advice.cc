#include "engine/report/advice.h"

#include <algorithm>

#include "engine/base/text.h"
#include "engine/graph/load.h"
#include "engine/pipeline/pipeline.h"

namespace rulerun {
namespace {

constexpr size_t kMostConditions = 8;

void ReplaceAll(std::string& text, std::string_view from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

bool SameRuleAndNode(const TraceEntry& a, const TraceEntry& b) {
  const std::string& node = a.sources.empty() ? a.node : a.sources.front();
  const bool same_node = a.node == b.node || std::find(b.sources.begin(), b.sources.end(), node) != b.sources.end();
  return a.stage == b.stage && a.rule == b.rule && same_node;
}

// What the rule said about the node: that it fired, if it ever did, else the last.
const TraceEntry* Answer(const Trace& trace, const TraceEntry& asked) {
  const TraceEntry* answer = nullptr;
  for (const TraceEntry& entry : trace) {
    if (!SameRuleAndNode(asked, entry)) continue;
    answer = &entry;
    if (entry.verdict == TraceEntry::Verdict::kFired) return answer;
  }
  return answer;
}

}  // namespace

std::string AdviceFor(const Refusal& refusal) {
  const PredicateInfo* predicate = FindPredicate(refusal.check);
  const BuiltinInfo* builtin = FindBuiltinCheck(refusal.check);
  if (predicate == nullptr && !refusal.wanted.empty()) return refusal.wanted;  // the matcher's own checks know best
  if (predicate == nullptr) return builtin == nullptr ? "" : std::string(builtin->advice);
  std::string text(predicate->advice);
  // Where the values are not known there is nothing to fill in.
  if (refusal.wanted.empty() && text.find("{wanted}") != std::string::npos) return "make it hold: " + refusal.message;
  ReplaceAll(text, "{wanted}", refusal.wanted);
  ReplaceAll(text, "{actual}", refusal.actual);
  ReplaceAll(text, "{args}", Join(refusal.args, " and "));
  for (size_t i = 0; i < refusal.args.size(); ++i) ReplaceAll(text, "{" + std::to_string(i) + "}", refusal.args[i]);
  return text;
}

std::string AdviceFor(const Reason& reason) {
  switch (reason.kind) {
    case Reason::Kind::kNotQuantized:
      return "quantize it: a Q and a DQ in front of its inputs, and behind its output";
    case Reason::Kind::kLevel:
      return "use a higher level";
    case Reason::Kind::kDisabled:
      return "leave out --disable";
    case Reason::Kind::kRefused:
    case Reason::Kind::kUnsupported:
    case Reason::Kind::kNoRule:
      break;
  }
  return "";
}

std::string_view Name(WhatIf::Kind kind) {
  switch (kind) {
    case WhatIf::Kind::kFires:
      return "fires";
    case WhatIf::Kind::kNothingElse:
      return "nothing-else";
    case WhatIf::Kind::kStopsAt:
      return "stops-at";
    case WhatIf::Kind::kError:
      return "error";
  }
  return "";
}

Result<WhatIf> AskWhatIf(const Model& model, const RuleSet& rules, const Target& target, const KernelRegistry& kernels,
                         const TraceEntry& refused) {
  WhatIf what_if;
  Target assuming = target;
  bool numbers_only = true;
  for (Refusal next = refused.refusal; what_if.conditions.size() < kMostConditions;) {
    what_if.conditions.push_back(next);
    const PredicateInfo* predicate = FindPredicate(next.check);
    if (predicate == nullptr) return what_if;  // one of the matcher's own checks
    numbers_only = numbers_only && predicate->repair != Repair::kModel;
    assuming.assumed.push_back(
        {next.where.ToString(), refused.sources.empty() ? refused.node : refused.sources.front()});
    Model copy = CloneModel(model);
    Trace trace;
    const Status status = RunPipeline(copy, rules, assuming, kernels, &trace);
    const TraceEntry* answer = Answer(trace, refused);
    const bool error = answer != nullptr && answer->verdict == TraceEntry::Verdict::kError;
    if (!status.ok() && !error)
      return status.error().kind() == ErrorKind::kRefused ? what_if : Result<WhatIf>(status.error());
    if (answer == nullptr) return what_if;
    if (error) {
      what_if.kind = WhatIf::Kind::kError;
      what_if.error = answer->refusal.message;
      return what_if;
    }
    if (answer->verdict == TraceEntry::Verdict::kFired) {
      what_if.kind = numbers_only ? WhatIf::Kind::kFires : WhatIf::Kind::kNothingElse;
      what_if.into = Join(answer->created_ops, ", ");
      return what_if;
    }
    if (answer->refusal.where.ToString() == next.where.ToString()) return what_if;  // taken to hold, and of no use
    next = answer->refusal;
  }
  return what_if;
}

}  // namespace rulerun
