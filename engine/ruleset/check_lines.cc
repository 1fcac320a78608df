// The lines of a pattern hang together: the search starts at the anchor and goes from value to value.
#include <algorithm>
#include <set>

#include "engine/base/codes.h"
#include "engine/ruleset/checks.h"

namespace rulerun {
namespace {

std::vector<const Statement*> Lines(const Rule& rule, const Case* one) {
  std::vector<const Statement*> lines;
  for (const Statement& line : rule.match) lines.push_back(&line);
  if (one == nullptr) return lines;
  for (const Statement& line : one->match) lines.push_back(&line);
  return lines;
}

void CheckOne(const Rule& rule, const Case* one, Diagnostics& errors) {
  std::vector<const Statement*> open = Lines(rule, one);
  const auto anchor = std::find_if(open.begin(), open.end(), [&](const Statement* line) {
    return !rule.anchor.empty() && line->label == rule.anchor;
  });
  std::set<std::string> reached = NamesIn(anchor == open.end() ? *open.front() : **anchor);
  open.erase(anchor == open.end() ? open.begin() : anchor);
  for (bool grown = true; grown;) {
    grown = false;
    for (auto line = open.begin(); line != open.end();) {
      std::set<std::string> names = NamesIn(**line);
      const bool touches =
          std::any_of(names.begin(), names.end(), [&](const std::string& name) { return reached.count(name) > 0; });
      if (!touches) {
        ++line;
        continue;
      }
      reached.merge(names);
      line = open.erase(line);
      grown = true;
    }
  }
  for (const Statement* line : open) {
    errors.Add(Code::kLooseLine, line->where, "no value leads from the anchor of '" + rule.name + "' to this line");
  }
}

}  // namespace

void CheckLines(const Rule& rule, Diagnostics& errors) {
  if (rule.is_unit) return;
  if (rule.cases.empty()) return CheckOne(rule, nullptr, errors);
  for (const Case& one : rule.cases) CheckOne(rule, &one, errors);
}

}  // namespace rulerun
