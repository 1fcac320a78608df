// A rewrite writes each result once, and leaves none without a producer.
#include <algorithm>
#include <map>
#include <set>

#include "engine/base/codes.h"
#include "engine/base/text.h"
#include "engine/ruleset/checks.h"

namespace rulerun {
namespace {

// The lines of a rule and of one of its cases.
std::vector<const Statement*> Lines(const Rule& rule, const Case* one) {
  std::vector<const Statement*> lines;
  for (const Statement& statement : rule.match) lines.push_back(&statement);
  if (one == nullptr) return lines;
  for (const Statement& statement : one->match) lines.push_back(&statement);
  return lines;
}

std::set<std::string> ReadBy(const Statement& statement) {
  std::set<std::string> read;
  for (const Alternative& alternative : statement.alternatives) {
    if (!alternative.call) {
      read.insert(alternative.value);
      continue;
    }
    for (const OperandPattern& operand : alternative.call->operands) read.insert(operand.name);
  }
  return read;
}

// Values that the rewrite gives a new producer, or whose readers it sends elsewhere.
std::map<std::string, Location> Bound(const Rewrite& rewrite, Diagnostics& errors) {
  std::map<std::string, Location> bound;
  for (const Statement& statement : rewrite.statements) {
    const auto bind = [&](const std::string& name, const Location& where) {
      if (name == "_" || bound.emplace(name, where).second) return;
      errors.Add(Code::kResultLost, where, "'" + name + "' is written twice");
    };
    if (statement.kind == Statement::Kind::kRename) {
      bind(statement.renamed_to, statement.where);
      continue;
    }
    for (const OutputPattern& output : statement.outputs) bind(output.name, output.where);
  }
  return bound;
}

// A result may be left alone if its node reads, over any number of lines, a value that the rewrite has bound.
bool ReachedFrom(const std::map<std::string, Location>& bound, const std::vector<const Statement*>& lines,
                 const std::string& result) {
  std::set<std::string> reached;
  for (const auto& [name, unused] : bound) reached.insert(name);
  for (bool grown = true; grown;) {
    grown = false;
    for (const Statement* line : lines) {
      const std::set<std::string> read = ReadBy(*line);
      if (!std::any_of(read.begin(), read.end(), [&](const std::string& name) { return reached.count(name) > 0; }))
        continue;
      for (const OutputPattern& output : line->outputs) grown = reached.insert(output.name).second || grown;
    }
  }
  return reached.count(result) > 0;
}

void CheckOne(const Rule& rule, const Case* one, const Rewrite& rewrite, Diagnostics& errors) {
  if (rewrite.kind != Rewrite::Kind::kReplace) return;
  const std::vector<const Statement*> lines = Lines(rule, one);
  const std::map<std::string, Location> bound = Bound(rewrite, errors);
  std::set<std::string> read;
  for (const Statement* line : lines) read.merge(ReadBy(*line));
  for (const Statement* line : lines) {
    for (const OutputPattern& output : line->outputs) {
      const std::string& name = output.name;
      if (name == "_" || read.count(name) > 0 || ReachedFrom(bound, lines, name)) continue;
      errors.Add(Code::kResultLost, rewrite.where,
                 "the rewrite of '" + rule.name + "' does not write '" + name + "', so it would vanish",
                 "write it, as in " + name + " = ...");
    }
  }
}

}  // namespace

void CheckRewrites(const Rule& rule, Diagnostics& errors) {
  if (rule.is_unit) return;
  if (rule.cases.empty()) return CheckOne(rule, nullptr, rule.rewrite, errors);
  for (const Case& one : rule.cases) {
    CheckOne(rule, &one, one.rewrite.kind == Rewrite::Kind::kNone ? rule.rewrite : one.rewrite, errors);
  }
}

}  // namespace rulerun
