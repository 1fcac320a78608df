// The coverage report: what became of every node, counted by operator and by rule.
#ifndef RULERUN_ENGINE_REPORT_COVERAGE_H_
#define RULERUN_ENGINE_REPORT_COVERAGE_H_

#include <map>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/graph/model.h"
#include "engine/report/boundary.h"
#include "engine/report/fates.h"
#include "engine/report/macs.h"
#include "engine/report/rule_use.h"
#include "kernels/kernel.h"

namespace rulerun {

// All original nodes of one operator that is no Q or DQ.
struct OpCoverage {
  std::string op;
  std::string group;  // OpRules::Group
  int count = 0;
  int int8 = 0;
  int moved = 0;     // kMoved and kDqDropped
  int in_float = 0;  // kFloat and kFused
  int gone = 0;      // kRemoved
  int other = 0;
  std::map<std::string, int> into;        // operators that do the work on int8 -> how often
  std::map<std::string, int> float_into;  // other float operators that do the work -> how often
  std::map<std::string, int> reasons;     // Reason::Short of those in float -> how often
  std::map<std::string, int> removers;    // rules and passes that removed some -> how often
  // Quantized nodes of which another thing became than the operator's group says: "float" -> how often. What is not
  // quantized is no unit, and does not count.
  std::map<std::string, int> mismatches;
};

// int8 and float: of nodes, or of their multiply-adds.
struct Share {
  int64_t int8 = 0;
  int64_t in_float = 0;
  int unknown = 0;  // nodes whose multiply-adds are not known, since shapes are not

  double Value() const {  // 1 where there are none
    return int8 + in_float == 0 ? 1.0 : static_cast<double>(int8) / static_cast<double>(int8 + in_float);
  }
};

// A Q or DQ operator: how many there were, and how many there are.
struct ConversionCount {
  std::string op;
  int before = 0;
  int after = 0;
};

// A known fault of ONNX Runtime that a rule or pass reproduced.
struct FaultHit {
  std::string node;  // the original anchor
  std::string op;
  std::string rule;  // or pass
  std::string id;
  std::string effect;
  std::string note;
  std::string place;
  std::string link;
  std::vector<std::string> beside;  // of a Q or DQ: the operators next to it, "name (operator)"
};

// Whether a fault is how int8 arithmetic differs from float on purpose, as every fused operator does.
bool IsByDesign(const FaultHit& hit);

struct Coverage {
  std::string model;  // path
  std::string rules;  // id and version of the rule set
  std::string level;
  std::string provider;
  std::string platform;
  Fates fates;
  std::vector<OpCoverage> ops;  // the most frequent first, then by name
  std::vector<ConversionCount> conversions;
  std::map<std::string, int> inserted;  // operator -> count, Qs and DQs aside
  BoundaryCost boundary;
  std::vector<FaultHit> faults;     // those by design aside
  std::vector<FaultHit> by_design;  // IsByDesign
  std::vector<RuleUse> rule_use;
  Share nodes;  // that compute on float numbers in the original; int8 counts those whose work is now done on int8
  Share macs;
};

std::vector<FaultHit> FaultsOf(const TraceEntry& entry);
// Of a whole trace, each once a node.
std::vector<FaultHit> FaultsIn(const Trace& trace, const std::vector<OriginalNode>& original);

// Runs the pipeline over `model` and reports on it; `trace`, if not nullptr, gets what the pipeline said. Multiply-adds
// are counted where there is a table of them.
Result<Coverage> MeasureCoverage(Model& model, const RuleSet& rules, const Target& target,
                                 const KernelRegistry& kernels, Trace* trace = nullptr, const MacTable* macs = nullptr);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_REPORT_COVERAGE_H_
