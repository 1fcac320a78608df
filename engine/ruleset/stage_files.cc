// The files of rules that the pipeline of a manifest names.
#include <algorithm>
#include <set>

#include "engine/base/codes.h"
#include "engine/base/text.h"
#include "engine/ruleset/raw.h"
#include "engine/ruleset/reading.h"

namespace rulerun {
namespace {

// What a file may bring to the walk of another: rules, and the type variables that they use.
bool IsBrought(std::string_view key) {
  const auto is_group = [&](Group group) { return Name(group) == key; };
  return key == "summary" || key == "types" || std::any_of(std::begin(kGroups), std::end(kGroups), is_group);
}

// Type variables of a file belong to the rules that have none of their own, wherever these go.
void GiveTypes(const Yaml& file, Yaml& rule) {
  const Yaml* types = file.Get("types");
  if (types == nullptr || !rule.IsMap() || rule.Get("types") != nullptr) return;
  Set(rule, "types", *types, types->where);
}

void Append(Yaml&& file, Yaml& first, Diagnostics& errors) {
  if (std::none_of(std::begin(kGroups), std::end(kGroups), [&](Group group) { return file.Get(Name(group)); })) {
    errors.Add(Code::kMissingKey, file.where, "the file brings no rules to its stage");
  }
  for (size_t i = 0; i < file.entries.size(); ++i) {
    const std::string& key = file.entries[i].first;
    if (IsBrought(key)) continue;
    errors.Add(Code::kKeysConflict, file.key_places[i],
               "'" + key + "' belongs into the first file of the stage; the others bring rules");
  }
  for (const Group group : kGroups) {
    Yaml* list = Find(file, Name(group));
    if (list == nullptr) continue;
    for (Yaml& rule : list->items) GiveTypes(file, rule);
    Yaml* before = Find(first, Name(group));
    if (before == nullptr) {
      Set(first, std::string(Name(group)), *list, list->where);
    } else {
      before->items.insert(before->items.end(), list->items.begin(), list->items.end());
    }
  }
}

class StageFiles {
 public:
  StageFiles(RawRuleSet& raw, Diagnostics& errors) : raw_(raw), errors_(errors) {}

  void Read() {
    if (Yaml* pipeline = Find(raw_.manifest, "pipeline")) ReadOf(*pipeline);
    std::erase_if(raw_.files, [&](const auto& entry) { return named_.count(entry.first) == 0; });
  }

 private:
  void ReadOf(Yaml& stages) {
    for (Yaml& stage : stages.items) {
      if (Yaml* inner = Find(stage, "stages")) ReadOf(*inner);
      if (Yaml* named = Find(stage, "rules")) ReadNamed(*named);
    }
  }

  // From here on the stage goes by its first file.
  void ReadNamed(Yaml& named) {
    std::vector<std::string> together;
    if (named.IsSequence() && named.AsNames() && !named.items.empty()) {
      for (const Yaml& file : named.items) together.push_back(ResolvePath(file));
      ReadFile(named.items.front(), {named.items.begin() + 1, named.items.end()});
      named = Yaml(named.items.front());
    } else if (named.IsScalar()) {
      together.push_back(ResolvePath(named));
      ReadFile(named, {});
    } else {
      return;  // told when the stage is read
    }
    const auto read = raw_.files.find(together.front());
    if (read == raw_.files.end() || together.size() == 1 || read->second.together == together) return;
    errors_.Add(Code::kKeysConflict, named.where, "a stage above names " + named.scalar + " with other files, or alone",
                "name all its files where it stands first; later its name is enough");
  }

  void ReadFile(const Yaml& named, const std::vector<Yaml>& others) {
    const std::string path = ResolvePath(named);
    named_.insert(path);
    if (raw_.files.count(path) > 0 || failed_.count(path) > 0) return;
    auto file = ReadYamlOf(named);
    if (!file) return;
    RawFile raw_file;
    raw_file.together.push_back(path);
    for (const Yaml& other : others) {
      auto more = ReadYamlOf(other);
      if (!more) continue;
      Append(std::move(*more), *file, errors_);
      raw_file.together.push_back(ResolvePath(other));
    }
    ResolveLikes(*file, errors_);
    const bool taken = std::any_of(raw_.files.begin(), raw_.files.end(),
                                   [&](const auto& entry) { return entry.second.key == named.scalar; });
    raw_file.key = taken ? path : named.scalar;
    raw_file.yaml = std::move(*file);
    raw_.files[path] = std::move(raw_file);
  }

  std::optional<Yaml> ReadYamlOf(const Yaml& named) {
    auto file = ReadYaml(ResolvePath(named));
    if (file.ok()) return std::move(file).value();
    errors_.Add(file.error().code, named.where, ToString(file.error()));
    failed_.insert(ResolvePath(named));
    return std::nullopt;
  }

  RawRuleSet& raw_;
  Diagnostics& errors_;
  std::set<std::string> named_;   // paths of files that the pipeline names
  std::set<std::string> failed_;  // files that could not be read, told once
};

}  // namespace

void ReadStageFiles(RawRuleSet& raw, Diagnostics& errors) { StageFiles(raw, errors).Read(); }

}  // namespace rulerun
