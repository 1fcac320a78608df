// `like: RULE`: a rule that takes over another's keys, except for those it writes itself.
#include <algorithm>

#include "engine/base/codes.h"
#include "engine/base/text.h"
#include "engine/ruleset/raw.h"
#include "engine/ruleset/reading.h"

namespace rulerun {
namespace {

// What belongs to one rule alone, or says where and how a rewrite is chosen when another way is written.
constexpr std::string_view kOwn[] = {"rule", "like", "tests", "summary"};

// What belongs to a rewrite; a rule that writes `error` brings none.
constexpr std::string_view kRewrite[] = {"replace", "becomes", "names", "flags", "faults"};

void TakeOver(const Yaml& from, Yaml& rule) {
  const bool fails = rule.Get("error") != nullptr;
  for (size_t i = 0; i < from.entries.size(); ++i) {
    const std::string& key = from.entries[i].first;
    if (std::find(std::begin(kOwn), std::end(kOwn), key) != std::end(kOwn)) continue;
    if (fails && std::find(std::begin(kRewrite), std::end(kRewrite), key) != std::end(kRewrite)) continue;
    if (rule.Get(key) == nullptr) Set(rule, key, from.entries[i].second, from.key_places[i]);
  }
}

// Rules of the file by name, in order.
template <typename Visit>
void ForEachRule(Yaml& file, const Visit& visit) {
  for (const Group group : kGroups) {
    Yaml* list = Find(file, Name(group));
    if (list == nullptr) continue;
    for (Yaml& rule : list->items) {
      if (rule.IsMap()) visit(rule);
    }
  }
}

void Fail(const Yaml& like, const std::vector<std::string>& names, Diagnostics& errors) {
  errors.Add(Code::kNoSuchRule, like.where,
             "no rule above this one is called '" + like.scalar + "'" + DidYouMean(like.scalar, names));
}

}  // namespace

void ResolveLikes(Yaml& file, Diagnostics& errors) {
  if (!file.IsMap()) return;
  std::vector<std::pair<std::string, Yaml>> above;
  ForEachRule(file, [&](Yaml& rule) {
    if (const Yaml* like = rule.Get("like")) {
      const auto found =
          std::find_if(above.begin(), above.end(), [&](const auto& entry) { return entry.first == like->scalar; });
      if (found == above.end()) {
        std::vector<std::string> names;
        for (const auto& [name, unused] : above) names.push_back(name);
        Fail(*like, names, errors);
      } else {
        TakeOver(found->second, rule);
      }
      Erase(rule, "like");
    }
    above.emplace_back(TextOf(rule, "rule"), rule);
  });
}

void ResolveLike(Yaml& rule, const RawRuleSet& raw, Diagnostics& errors) {
  const Yaml* like = rule.Get("like");
  if (like == nullptr) return;
  std::vector<std::string> names;
  for (const auto& [path, file] : raw.files) {
    for (const Group group : kGroups) {
      const Yaml* list = file.yaml.Get(Name(group));
      if (list == nullptr) continue;
      for (const Yaml& other : list->items) {
        names.push_back(TextOf(other, "rule"));
        if (names.back() != like->scalar) continue;
        TakeOver(other, rule);
        Erase(rule, "like");
        return;
      }
    }
  }
  Fail(*like, names, errors);
  Erase(rule, "like");
}

}  // namespace rulerun
