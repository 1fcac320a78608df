// Tries a rule at a node.
#ifndef RULERUN_ENGINE_MATCH_MATCH_H_
#define RULERUN_ENGINE_MATCH_MATCH_H_

#include <optional>

#include "engine/match/binding.h"
#include "engine/match/verdict.h"

namespace rulerun {

struct MatchResult {
  enum class Kind {
    kNoMatch,  // the text does not describe what stands here
    kRefused,  // it does, but a check or condition does not hold
    kMatched,  // the rule applies
    kError,    // the rule says that ONNX Runtime fails here
  };
  Kind kind = Kind::kNoMatch;
  bool final = false;              // kRefused: by a case that says so; nothing else is tried
  std::optional<Binding> binding;  // kMatched, kError
  Refusal refusal;                 // kRefused; kError: what the rule says
};

// Whether the rule may have its anchor at a node of this operator at all; cheap.
bool MayAnchor(const MatchScope& scope, const Rule& rule, const Node& node);

// The first binding, in the order of the search (language.md 3), that satisfies text and conditions.
MatchResult MatchRule(const MatchScope& scope, const Rule& rule, NodeIndex node);

// --- shared by the two matchers

// Whether a call's operator, an alternative or a set of them, is the node's.
bool IsOperator(const MatchScope& scope, const Call& call, const Node& node);
bool InOpSet(const MatchScope& scope, std::string_view set, const Node& node);
// Whether the rule may touch the node, by provider.
bool ProviderFits(const MatchScope& scope, const Rule& rule, const Node& node);
// Whether the node has the written attributes; one that its operator version does not have counts as 0.
bool AttributesFit(const Call& call, const Node& node);
// Compares and captures the attributes a call writes down.
std::optional<Refusal> BindAttributes(Binding& binding, const Call& call, const Node& node);
// Conditions and cases, last; kMatched, kRefused or kError.
MatchResult Conclude(Binding binding);

MatchResult MatchUnit(const MatchScope& scope, const Rule& rule, NodeIndex node);
MatchResult MatchPattern(const MatchScope& scope, const Rule& rule, NodeIndex node);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_MATCH_MATCH_H_
