// The table of a pass, read with errors that name the place. For the .cc files of this folder only.
#ifndef RULERUN_ENGINE_PASSES_TABLE_H_
#define RULERUN_ENGINE_PASSES_TABLE_H_

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "engine/graph/graph.h"
#include "engine/passes/pass.h"

namespace rulerun {

// Operators with their domain in front, as Node::Op() gives them.
using OpNames = std::set<std::string, std::less<>>;
// Operator -> since-versions it stands for; an empty list: every version.
using OpVersions = std::map<std::string, std::vector<int>, std::less<>>;

bool Contains(const OpVersions& ops, const Node& node);

// Known faults of a pass, by the word that says when, and the operators that they are about; none: any operator.
struct PassFault {
  std::string when;
  OpVersions ops;
  Fault fault;
};
using PassFaults = std::vector<PassFault>;
// Those that a node has.
std::vector<Fault> FaultsAt(const PassFaults& faults, std::string_view when, const Node& node);

// A map of a pass's table.
class Table {
 public:
  // What stands under the pass's name.
  static Result<Table> Read(const PassScope& scope, std::string_view pass);

  // A map inside this one.
  Result<Table> Sub(std::string_view key) const;
  // A list of maps.
  Result<std::vector<Table>> Maps(std::string_view key) const;
  const Yaml* Find(std::string_view key) const { return yaml_->Get(key); }
  const Yaml& yaml() const { return *yaml_; }

  Result<std::string> Text(std::string_view key) const;
  Result<int64_t> Int(std::string_view key) const;
  Result<std::vector<std::string>> Names(std::string_view key) const;
  // Names of operators; those of op sets stand for their members.
  Result<OpNames> Ops(std::string_view key) const;
  // A map from operator to versions, or a list of operators.
  Result<OpVersions> Versions(std::string_view key) const;
  Result<std::set<DataType>> Types(std::string_view key) const;

  // `faults:`, what is known to go wrong: `{id, when, ops, effect, note, link}`. `when` is one of `words`.
  Result<PassFaults> Faults(const std::vector<std::string>& words) const;

  Error Wrong(std::string_view key, const std::string& wanted) const;

 private:
  Table(const Yaml* yaml, const Vocabulary* vocabulary) : yaml_(yaml), vocabulary_(vocabulary) {}
  void AddOps(const std::string& name, OpNames& ops) const;

  const Yaml* yaml_;
  const Vocabulary* vocabulary_;
};

// The text with "${word}" replaced for each of `words`.
std::string Fill(std::string_view text, const std::vector<std::pair<std::string_view, std::string>>& words);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_PASSES_TABLE_H_
