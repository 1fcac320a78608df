// What became of every node of the original model.
#ifndef RULERUN_ENGINE_REPORT_FATES_H_
#define RULERUN_ENGINE_REPORT_FATES_H_

#include <string>
#include <string_view>
#include <vector>

#include "engine/graph/model.h"
#include "engine/graph/node_name.h"
#include "engine/report/boundary.h"
#include "engine/report/macs.h"
#include "engine/report/reasons.h"

namespace rulerun {

// A node as it was before any rule ran.
struct OriginalNode {
  std::string name;  // as origins call it: its name, or "operator#position"
  std::string op;
  bool floating = false;        // reads or writes float numbers
  bool quantizer = false;       // Q or DQ
  std::string inside;           // names of the nodes whose subgraphs hold it, "/" between them; "" for the main graph
  std::optional<int64_t> macs;  // multiply-adds; std::nullopt where shapes are not known
  // Of an operator: names of the Qs and DQs between it and its neighbours.
  std::vector<std::string> quantizers;
};

// What MarkOrigins calls a node of the original, and the first of a later node's origins.
std::string OriginOf(const Node& node);

// Nodes of the graph and its subgraphs. Call it before the pipeline runs. Without `macs` no operator has any.
std::vector<OriginalNode> ListNodes(const Graph& graph, const RuleSet& rules, const MacTable* macs = nullptr);

enum class Fate {
  kInt8,        // an int8 operator does its work
  kMoved,       // the operator stays, and works on the quantized numbers
  kDqDropped,   // the operator stays, reads the quantized numbers and writes others
  kFloat,       // it computes in float, perhaps under another operator's name
  kFused,       // part of a float operator that stands for another node
  kRemoved,     // nothing stands for it any more: folded, merged, bypassed
  kConversion,  // a Q or DQ that is left
  kOther,       // no float numbers before and after: shapes, indices, masks
};
// "int8", "moved", "dq-dropped", "float", "fused", "removed", "conversion", "other".
std::string_view Name(Fate fate);
// The same in words: "int8", "moved as int8", ...
std::string_view Words(Fate fate);

struct NodeFate {
  OriginalNode node;
  Fate fate = Fate::kOther;
  std::string into;    // operator that does its work now, "" for removed ones
  std::string now;     // name of that node, "operator#position" where it has none
  std::string rule;    // that decided, or the pass; "" where nothing touched it
  std::string place;   // file:line:column of the rule
  Reason reason;       // kFloat, kFused: why
  Conversions around;  // kFloat, kFused: to and from int8, right in front and behind
};
// How a report calls it in a word: as Name(fate), but "unsupported" and "refused" for two of the reasons to stay float.
std::string_view StatusName(const NodeFate& fate);

// A node of the final graph that stands for no single original one.
struct InsertedNode {
  std::string name;
  std::string op;
  std::string rule;  // or pass
  std::vector<std::string> origins;
};

struct Fates {
  std::vector<NodeFate> nodes;  // in the order of the original
  std::vector<InsertedNode> inserted;
};

// `graph`: after the pipeline; `trace`: all that it said.
Fates FindFates(const std::vector<OriginalNode>& original, const Graph& graph, const Trace& trace, const RuleSet& rules,
                const Target& target);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_REPORT_FATES_H_
