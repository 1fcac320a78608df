// Carries out what a matched rule says.
#ifndef RULERUN_ENGINE_REWRITE_REWRITE_H_
#define RULERUN_ENGINE_REWRITE_REWRITE_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "engine/match/match.h"

namespace rulerun {

// What a rewrite did, for the trace.
struct Change {
  std::vector<NodeIndex> created;
  std::vector<NodeIndex> edited;
  std::vector<std::string> removed;                            // names
  std::vector<std::string> sources;                            // origins of the matched nodes, the anchor's first
  std::vector<std::pair<std::string, std::string>> made_from;  // names of new values, and of the ones they stem from
};

// Rewrites the graph as the rule of `binding` says (MatchResult::kMatched). The graph must not have changed since the
// match. An Error means that the rewrite builds what ONNX Runtime would refuse.
Result<Change> Apply(Binding& binding);

// --- steps, shared by pattern and unit rewrites

Result<Change> ApplyPattern(Binding& binding, const Rewrite& rewrite);
Result<Change> ApplyUnit(Binding& binding, const Rewrite& rewrite);

// Sets, replaces and drops attributes as the text says; kinds follow the operator's schema.
void SetAttributes(const Binding& binding, const Call& call, const OpSchema* schema, AttributeMap& attributes);
// Whether the conditions of a rule's flag hold; true for "".
bool FlagHolds(const Binding& binding, const std::string& flag);
// The operator of a call, templates expanded: {domain, op}.
std::pair<std::string, std::string> OperatorOf(const Binding& binding, const Call& call);
// The initializer that holds computed value `name`, made at the first call under its `names:` entry.
std::optional<ValueId> ComputedInitializer(Binding& binding, const std::string& name,
                                           std::map<std::string, ValueId>& made);
// The first value of the graph that the lines read which compute `name`; kNoValue where they read none.
ValueId SourceOfComputed(const Binding& binding, std::string_view name);
const NameTemplate* FindName(const Binding& binding, std::string_view key);
// Draws the name of a value (a node) as its template says; `fallback` is the base where there is none.
std::string DrawValueName(const Binding& binding, std::string_view key, const std::string& fallback);
std::string DrawNodeName(const Binding& binding, std::string_view key, const std::string& fallback);
// Adds a node that this rewrite made, imports its domain, gives its outputs types.
Result<NodeIndex> AddMade(Binding& binding, Node node);
// The same without types, for a node whose operands have none yet.
NodeIndex AddUntyped(Binding& binding, Node node);
// Origins of nodes, the first one's first, each once.
std::vector<std::string> OriginsOf(const Graph& graph, const std::vector<NodeIndex>& nodes);
// Removes those of `nodes` that nobody reads any more and that produce no graph output, until none is left.
void RemoveDead(Graph& graph, const std::vector<NodeIndex>& nodes, Change& change);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_REWRITE_REWRITE_H_
