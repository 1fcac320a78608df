// `pipeline:` of a manifest.
#include <algorithm>
#include <charconv>

#include "engine/base/codes.h"
#include "engine/base/text.h"
#include "engine/ruleset/reading.h"

namespace rulerun {
namespace {

constexpr int64_t kMostRounds = 1000;

class PipelineReader {
 public:
  PipelineReader(const RuleSet& rules, const FileKeys& keys, Diagnostics& errors)
      : rules_(rules), keys_(keys), errors_(errors), context_{rules, no_sets_, errors} {}

  std::vector<Stage> ReadList(const Yaml& list) {
    std::vector<Stage> stages;
    for (const Yaml& item : list.items) {
      if (CheckMap(item, KeyTable::kStage, errors_)) stages.push_back(ReadStage(item));
    }
    return stages;
  }

 private:
  Stage ReadStage(const Yaml& yaml) {
    Stage stage;
    stage.where = yaml.where;
    ReadKind(yaml, stage);
    stage.only = NamesOf(yaml, "only");
    if (const Yaml* only = yaml.Get("only"); only != nullptr && stage.kind == Stage::Kind::kRules) {
      CheckOnly(*only, stage);
    }
    stage.walk_together = TextOf(yaml, "walk") == "together";
    stage.providers = NamesOf(yaml, "ep");
    stage.gate_if = ReadGate(yaml.Get("if"), context_);
    stage.gate_unless = ReadGate(yaml.Get("unless"), context_);
    if (const Yaml* level = yaml.Get("level")) {
      const auto range = ReadRange(*level, Gate::Kind::kLevel, errors_);
      if (range) stage.level = static_cast<Level>(range->min);
    }
    if (const Yaml* loop = yaml.Get("loop")) stage.loop = ReadRounds(*loop);
    if (const Yaml* once = yaml.Get("once")) stage.once = once->AsBool().value_or(false);
    stage.not_after = TextOf(yaml, "not-after");
    const std::string recurse = TextOf(yaml, "recurse");
    if (recurse == "after") stage.recurse = Stage::Recurse::kAfter;
    if (recurse == "false") stage.recurse = Stage::Recurse::kNever;
    ReadAgain(yaml, stage);
    return stage;
  }

  // A stage is a file of rules, a pass, or a list of stages.
  void ReadKind(const Yaml& yaml, Stage& stage) {
    const Yaml* file = yaml.Get("rules");
    const Yaml* pass = yaml.Get("pass");
    const Yaml* stages = yaml.Get("stages");
    if ((file != nullptr) + (pass != nullptr) + (stages != nullptr) != 1) {
      errors_.Add(Code::kKeysConflict, yaml.where, "a stage has one of 'rules', 'pass' and 'stages'");
      return;
    }
    if (file != nullptr) {
      stage.kind = Stage::Kind::kRules;
      stage.file = KeyOf(*file);
    } else if (pass != nullptr) {
      stage.kind = Stage::Kind::kPass;
      stage.pass = pass->scalar;
      if (const Yaml* table = yaml.Get("table")) stage.table = KeyOf(*table);
    } else {
      stage.kind = Stage::Kind::kGroup;
      stage.stages = ReadList(*stages);
    }
    const auto belongs = [&](std::string_view key, bool fits, const char* owner) {
      if (const Yaml* value = yaml.Get(key); value != nullptr && !fits) {
        errors_.Add(Code::kKeysConflict, value->where, "'" + std::string(key) + "' belongs to " + owner);
      }
    };
    belongs("table", pass != nullptr, "a pass");
    belongs("only", file != nullptr, "a file of rules");
    belongs("walk", file != nullptr, "a file of rules");
    belongs("not-after", file != nullptr, "a file of rules");
  }

  std::string KeyOf(const Yaml& path) const {
    const auto key = keys_.find(ResolvePath(path));
    return key == keys_.end() ? path.scalar : key->second;
  }

  void CheckOnly(const Yaml& only, const Stage& stage) {
    const auto file = rules_.files.find(stage.file);
    if (file == rules_.files.end()) return;
    std::vector<std::string> names;
    for (const auto& rule : file->second.rules) names.push_back(rule->name);
    for (const Yaml& item : only.IsSequence() ? only.items : std::vector<Yaml>{only}) {
      if (std::find(names.begin(), names.end(), item.scalar) != names.end()) continue;
      errors_.Add(Code::kNoSuchRule, item.where,
                  stage.file + " has no rule '" + item.scalar + "'" + DidYouMean(item.scalar, names));
    }
  }

  int ReadRounds(const Yaml& loop) {
    const int64_t rounds = loop.AsInt().value_or(1);
    if (rounds < 1 || rounds > kMostRounds) errors_.Add(Code::kBadValue, loop.where, "'loop' is 1 to 1000 rounds");
    return static_cast<int>(std::clamp<int64_t>(rounds, 1, kMostRounds));
  }

  // by: {option: loop}, again-if: {0: never, 1: [pass], 2: any}
  void ReadAgain(const Yaml& yaml, Stage& stage) {
    const Yaml* by = yaml.Get("by");
    const Yaml* again = yaml.Get("again-if");
    if ((by == nullptr) != (again == nullptr)) {
      errors_.Add(Code::kKeysConflict, (by != nullptr ? by : again)->where, "'by' and 'again-if' go together");
      return;
    }
    if (by == nullptr) return;
    const Yaml* option = by->Get("option");
    if (option == nullptr || !option->IsScalar() || by->entries.size() != 1) {
      errors_.Add(Code::kBadValue, by->where, "'by' names an option: {option: NAME}");
      return;
    }
    if (context_.CheckOption(option->scalar, option->where)) stage.loop_by = option->scalar;
    for (size_t i = 0; i < again->entries.size(); ++i) {
      const auto& [key, value] = again->entries[i];
      int64_t number = 0;
      const auto end = std::from_chars(key.data(), key.data() + key.size(), number);
      if (end.ec != std::errc() || end.ptr != key.data() + key.size()) {
        errors_.Add(Code::kBadValue, again->key_places[i],
                    "the keys of 'again-if' are values of the option: whole numbers");
        continue;
      }
      std::vector<std::string> names = value.AsNames().value_or(std::vector<std::string>{});
      if (names == std::vector<std::string>{"never"}) names.clear();
      stage.again_if[number] = std::move(names);
    }
  }

  const RuleSet& rules_;
  const FileKeys& keys_;
  Diagnostics& errors_;
  const TypeSets no_sets_;
  ReadContext context_;
};

}  // namespace

std::vector<Stage> ReadPipeline(const Yaml& list, const RuleSet& rules, const FileKeys& keys, Diagnostics& errors) {
  return PipelineReader(rules, keys, errors).ReadList(list);
}

}  // namespace rulerun
