// `extends`: a manifest laid over another, and the changes it makes to rules.
#include <algorithm>
#include <functional>
#include <optional>
#include <set>

#include "engine/base/codes.h"
#include "engine/base/text.h"
#include "engine/ruleset/keys.h"
#include "engine/ruleset/raw.h"
#include "engine/ruleset/reading.h"

namespace rulerun {
namespace {

Yaml AsList(const Yaml& yaml) {
  if (yaml.IsSequence()) return yaml;
  Yaml list;
  list.kind = Yaml::Kind::kSequence;
  list.where = yaml.where;
  list.items.push_back(yaml);
  return list;
}

void Append(const Yaml& more, Yaml& list) {
  list = AsList(list);
  for (const Yaml& item : AsList(more).items) list.items.push_back(item);
}

void MergeMaps(const Yaml& derived, Yaml& base) {
  for (size_t i = 0; i < derived.entries.size(); ++i) {
    Set(base, derived.entries[i].first, derived.entries[i].second, derived.key_places[i]);
  }
}

// Sets merge by key; lists and sources grow; the rest is replaced.
void MergeOps(const Yaml& derived, Yaml& base) {
  for (size_t i = 0; i < derived.entries.size(); ++i) {
    const auto& [key, value] = derived.entries[i];
    Yaml* known = Find(base, key);
    if (known == nullptr || key == "copy") {
      Set(base, key, value, derived.key_places[i]);
    } else if (key == "sets") {
      MergeMaps(value, *known);
    } else {
      Append(value, *known);
    }
  }
}

// Applies one list of changes.
class Editor {
 public:
  Editor(RawRuleSet& raw, Diagnostics& errors) : raw_(raw), errors_(errors) {}

  void Apply(const Yaml& edit) {
    if (!CheckMap(edit, KeyTable::kEdit, errors_)) return;
    const bool overrides = edit.Get("override") != nullptr;
    const bool disables = edit.Get("disable") != nullptr;
    const bool inserts = edit.Get("insert") != nullptr;
    if (overrides + disables + inserts != 1) {
      errors_.Add(Code::kKeysConflict, edit.where, "a change is one of 'override', 'disable' and 'insert'");
    } else if (overrides) {
      Override(edit);
    } else if (disables) {
      Disable(edit);
    } else {
      Insert(edit);
    }
  }

 private:
  // Where a rule stands.
  struct Place {
    Yaml* list = nullptr;
    size_t index = 0;
    Yaml& rule() const { return list->items[index]; }
  };

  void ForEachList(const std::function<void(RawFile&, Group, Yaml&)>& visit) {
    for (auto& [path, file] : raw_.files) {
      for (const Group group : kGroups) {
        if (Yaml* list = Find(file.yaml, Name(group))) visit(file, group, *list);
      }
    }
  }

  std::optional<Place> FindRule(const std::string& name) {
    std::optional<Place> found;
    ForEachList([&](RawFile&, Group, Yaml& list) {
      for (size_t i = 0; i < list.items.size(); ++i) {
        if (!found && TextOf(list.items[i], "rule") == name) found = Place{&list, i};
      }
    });
    return found;
  }

  std::vector<std::string> RuleNames() {
    std::vector<std::string> names;
    ForEachList([&](RawFile&, Group, Yaml& list) {
      for (const Yaml& rule : list.items) names.push_back(TextOf(rule, "rule"));
    });
    return names;
  }

  std::optional<Place> FindRuleOrFail(const Yaml& name) {
    auto place = FindRule(name.scalar);
    if (!place) {
      errors_.Add(
          Code::kNoSuchRule, name.where,
          "'" + raw_.extends.front() + "' has no rule '" + name.scalar + "'" + DidYouMean(name.scalar, RuleNames()));
    }
    return place;
  }

  // --- override
  void Override(const Yaml& edit) {
    std::vector<std::string> closed_somewhere;
    for (const Yaml& name : AsList(*edit.Get("override")).items) {
      const auto place = FindRuleOrFail(name);
      if (!place) continue;
      for (size_t i = 0; i < edit.entries.size(); ++i) OverrideKey(edit, i, place->rule());
      Close(edit, place->rule(), closed_somewhere);
    }
    CheckClosed(edit, closed_somewhere);
  }

  void OverrideKey(const Yaml& edit, size_t i, Yaml& rule) {
    const auto& [key, value] = edit.entries[i];
    if (key == "override" || key == "closes") return;
    if (key == "rules") {
      errors_.Add(Code::kKeysConflict, edit.key_places[i], "'rules' belongs to 'insert'");
    } else if (EndsWith(key, "+")) {
      const std::string base = key.substr(0, key.size() - 1);
      Yaml grown = rule.Get(base) != nullptr ? *rule.Get(base) : AsList(value);
      if (rule.Get(base) != nullptr) Append(value, grown);
      Set(rule, base, grown, edit.key_places[i]);
    } else {
      DropOtherWays(key, rule);
      if (value.kind == Yaml::Kind::kNull) {
        Erase(rule, key);
      } else {
        Set(rule, key, value, edit.key_places[i]);
      }
    }
  }

  // A rule has one pattern and one rewrite: a new one takes the place of the other kind.
  static void DropOtherWays(const std::string& key, Yaml& rule) {
    const std::vector<std::string> patterns{"unit", "match"};
    const std::vector<std::string> rewrites{"replace", "becomes", "error"};
    for (const auto& ways : {patterns, rewrites}) {
      if (std::find(ways.begin(), ways.end(), key) == ways.end()) continue;
      for (const std::string& way : ways) Erase(rule, way);
    }
  }

  void Close(const Yaml& edit, Yaml& rule, std::vector<std::string>& closed) {
    Yaml* faults = Find(rule, "faults");
    if (faults == nullptr) return;
    for (const std::string& id : NamesOf(edit, "closes")) {
      const size_t before = faults->items.size();
      faults->items.erase(std::remove_if(faults->items.begin(), faults->items.end(),
                                         [&](const Yaml& fault) { return TextOf(fault, "id") == id; }),
                          faults->items.end());
      if (faults->items.size() == before) continue;
      closed.push_back(id);
      raw_.closed[TextOf(rule, "rule")].push_back(id);
    }
  }

  void CheckClosed(const Yaml& edit, const std::vector<std::string>& closed) {
    const Yaml* closes = edit.Get("closes");
    if (closes == nullptr) return;
    for (const Yaml& id : AsList(*closes).items) {
      if (std::find(closed.begin(), closed.end(), id.scalar) != closed.end()) continue;
      errors_.Add(Code::kNoSuchRule, id.where, "none of these rules has a fault '" + id.scalar + "'");
    }
  }

  // --- disable
  void Disable(const Yaml& edit) {
    const Yaml& what = *edit.Get("disable");
    std::vector<std::string> closed;
    if (what.IsMap()) {
      for (size_t i = 0; i < what.entries.size(); ++i) {
        const auto& [kind, names] = what.entries[i];
        for (const Yaml& name : AsList(names).items) {
          if (kind == "group") {
            DisableGroup(name);
          } else if (kind == "stage") {
            DisableStage(name);
          } else {
            errors_.Add(Code::kUnknownKey, what.key_places[i],
                        "'" + kind + "' is neither group nor stage" + DidYouMean(kind, {"group", "stage"}));
          }
        }
      }
      return;
    }
    for (const Yaml& name : AsList(what).items) {
      const auto place = FindRuleOrFail(name);
      if (!place) continue;
      Close(edit, place->rule(), closed);
      place->list->items.erase(place->list->items.begin() + static_cast<std::ptrdiff_t>(place->index));
      DropFromPipeline(name.scalar);
    }
    CheckClosed(edit, closed);
  }

  void DisableGroup(const Yaml& name) {
    if (name.scalar == "unsupported") {
      for (auto& [path, file] : raw_.files) {
        if (Yaml* list = Find(file.yaml, name.scalar)) list->items.clear();
      }
      return;
    }
    std::vector<std::string> known{"unsupported"};
    bool found = false;
    ForEachList([&](RawFile&, Group group, Yaml& list) {
      known.emplace_back(Name(group));
      if (Name(group) != name.scalar) return;
      found = true;
      for (const Yaml& rule : list.items) DropFromPipeline(TextOf(rule, "rule"));
      list.items.clear();
    });
    if (!found)
      errors_.Add(Code::kNoSuchRule, name.where,
                  "there is no group '" + name.scalar + "'" + DidYouMean(name.scalar, known));
  }

  // A stage goes by its file, its pass, or the name that its file gives it.
  void DisableStage(const Yaml& name) {
    std::vector<std::string> known;
    const auto is_it = [&](const Yaml& stage) {
      std::vector<std::string> names{TextOf(stage, "pass")};
      if (const Yaml* file = stage.Get("rules"); file != nullptr && file->IsScalar()) {
        names.push_back(file->scalar);
        const auto read = raw_.files.find(ResolvePath(*file));
        if (read != raw_.files.end()) names.push_back(TextOf(read->second.yaml, "stage"));
      }
      known.insert(known.end(), names.begin(), names.end());
      return std::find(names.begin(), names.end(), name.scalar) != names.end();
    };
    Yaml* pipeline = Find(raw_.manifest, "pipeline");
    if (pipeline == nullptr || !RemoveStages(*pipeline, is_it)) {
      errors_.Add(Code::kNoSuchRule, name.where,
                  "the pipeline has no stage '" + name.scalar + "'" + DidYouMean(name.scalar, known));
      return;
    }
    DropUnnamedFiles();
  }

  static bool RemoveStages(Yaml& stages, const std::function<bool(const Yaml&)>& is_it) {
    const size_t before = stages.items.size();
    stages.items.erase(std::remove_if(stages.items.begin(), stages.items.end(), is_it), stages.items.end());
    bool removed = stages.items.size() != before;
    for (Yaml& stage : stages.items) {
      if (Yaml* inner = Find(stage, "stages")) removed = RemoveStages(*inner, is_it) || removed;
    }
    return removed;
  }

  // Files whose last stage has gone take their rules along.
  void DropUnnamedFiles() {
    std::set<std::string> named;
    ForEachStage([&](Yaml& stage) {
      const Yaml* file = stage.Get("rules");
      if (file != nullptr && file->IsScalar()) named.insert(ResolvePath(*file));
    });
    for (auto it = raw_.files.begin(); it != raw_.files.end();) {
      it = named.count(it->first) > 0 ? std::next(it) : raw_.files.erase(it);
    }
  }

  void ForEachStage(const std::function<void(Yaml&)>& visit) {
    const std::function<void(Yaml&)> walk = [&](Yaml& stages) {
      for (Yaml& stage : stages.items) {
        visit(stage);
        if (Yaml* inner = Find(stage, "stages")) walk(*inner);
      }
    };
    if (Yaml* pipeline = Find(raw_.manifest, "pipeline")) walk(*pipeline);
  }

  // A rule that is gone leaves the `only` lists; a stage whose list is empty then goes, too.
  void DropFromPipeline(const std::string& rule) {
    ForEachStage([&](Yaml& stage) {
      Yaml* only = Find(stage, "only");
      if (only == nullptr) return;
      *only = AsList(*only);
      only->items.erase(
          std::remove_if(only->items.begin(), only->items.end(), [&](const Yaml& name) { return name.scalar == rule; }),
          only->items.end());
    });
    if (Yaml* pipeline = Find(raw_.manifest, "pipeline")) {
      RemoveStages(*pipeline, [](const Yaml& stage) {
        const Yaml* only = stage.Get("only");
        return only != nullptr && only->IsSequence() && only->items.empty();
      });
    }
  }

  // --- insert
  void Insert(const Yaml& edit) {
    const Yaml& where = *edit.Get("insert");
    const Yaml* rules = edit.Get("rules");
    if (rules == nullptr || !rules->IsSequence()) {
      errors_.Add(Code::kKeysConflict, edit.where, "'insert' needs 'rules', a list");
      return;
    }
    if (!where.IsMap() || where.entries.size() != 1 || !where.entries[0].second.IsScalar()) {
      errors_.Add(Code::kKeysConflict, where.where,
                  "'insert' takes {into: group or file}, {before: rule} or {after: rule}");
      return;
    }
    const auto& [how, target] = where.entries[0];
    std::vector<Yaml> added = NewRules(edit, *rules);
    if (how == "into") {
      if (Yaml* list = FindList(target)) {
        list->items.insert(list->items.end(), added.begin(), added.end());
      }
    } else if (how == "before" || how == "after") {
      InsertBeside(target, how == "after", added);
    } else {
      errors_.Add(Code::kUnknownKey, where.key_places[0],
                  "'" + how + "' is none of into, before, after" + DidYouMean(how, {"into", "before", "after"}));
    }
  }

  // Keys beside `insert` are defaults of the rules.
  std::vector<Yaml> NewRules(const Yaml& edit, const Yaml& rules) {
    std::vector<Yaml> added;
    for (Yaml rule : rules.items) {
      if (rule.Get("ops") == nullptr) {
        for (size_t i = 0; i < edit.entries.size(); ++i) {
          const auto& [key, value] = edit.entries[i];
          if (key == "insert" || key == "rules" || rule.Get(key) != nullptr) continue;
          Set(rule, key, value, edit.key_places[i]);
        }
        ResolveLike(rule, raw_, errors_);
        CheckNew(rule);
      }
      added.push_back(std::move(rule));
    }
    return added;
  }

  void CheckNew(const Yaml& rule) {
    const Yaml* name = rule.Get("rule");
    if (name == nullptr || !FindRule(name->scalar)) return;
    errors_.Add(Code::kDuplicateRule, name->where, "there is a rule '" + name->scalar + "' already",
                "change it with 'override'");
  }

  // A group of the file that has it, or the patterns of a file by its path or stage name.
  Yaml* FindList(const Yaml& target) {
    std::vector<Yaml*> found;
    std::vector<std::string> known;
    for (auto& [path, file] : raw_.files) {
      for (const std::string_view group : {"replace", "drop-qdq", "drop-dq", "unsupported"}) {
        Yaml* list = Find(file.yaml, group);
        if (list == nullptr) continue;
        known.emplace_back(group);
        if (group == target.scalar) found.push_back(list);
      }
      Yaml* list = Find(file.yaml, "rules");
      if (list == nullptr) continue;
      const std::string stage = TextOf(file.yaml, "stage");
      known.insert(known.end(), {file.key, stage});
      if (file.key == target.scalar || (!stage.empty() && stage == target.scalar)) found.push_back(list);
    }
    if (found.size() == 1) return found[0];
    errors_.Add(Code::kNoSuchRule, target.where,
                found.empty() ? "there is no group or file '" + target.scalar + "'" + DidYouMean(target.scalar, known)
                              : "several files have a group '" + target.scalar + "'",
                found.empty() ? "" : "say before or after which rule");
    return nullptr;
  }

  void InsertBeside(const Yaml& target, bool after, const std::vector<Yaml>& added) {
    const auto place = FindRuleOrFail(target);
    if (!place) return;
    auto& items = place->list->items;
    items.insert(items.begin() + static_cast<std::ptrdiff_t>(place->index + (after ? 1 : 0)), added.begin(),
                 added.end());
    ForEachStage([&](Yaml& stage) {
      Yaml* only = Find(stage, "only");
      if (only == nullptr) return;
      *only = AsList(*only);
      const auto beside = std::find_if(only->items.begin(), only->items.end(),
                                       [&](const Yaml& name) { return name.scalar == target.scalar; });
      if (beside == only->items.end()) return;
      std::vector<Yaml> names;
      for (const Yaml& rule : added) {
        if (const Yaml* name = rule.Get("rule")) names.push_back(*name);
      }
      only->items.insert(after ? std::next(beside) : beside, names.begin(), names.end());
    });
  }

  RawRuleSet& raw_;
  Diagnostics& errors_;
};

}  // namespace

void MergeManifest(const Yaml& derived, Yaml& base) {
  for (size_t i = 0; i < derived.entries.size(); ++i) {
    const auto& [key, value] = derived.entries[i];
    Yaml* known = Find(base, key);
    if (key == "rules" || key == "everywhere" || key == "extends") continue;
    if (known != nullptr && (key == "platforms" || key == "options" || key == "sets")) {
      MergeMaps(value, *known);
    } else if (known != nullptr && key == "ops") {
      MergeOps(value, *known);
    } else {
      Set(base, key, value, derived.key_places[i]);
    }
  }
}

void ApplyEdits(const Yaml& edits, RawRuleSet& raw, Diagnostics& errors) {
  Editor editor(raw, errors);
  for (const Yaml& edit : edits.items) editor.Apply(edit);
}

}  // namespace rulerun
