// ReadRuleSet: a manifest and all it names -> RuleSet.
#include <algorithm>
#include <filesystem>

#include "engine/base/codes.h"
#include "engine/base/text.h"
#include "engine/ruleset/checks.h"
#include "engine/ruleset/raw.h"
#include "engine/ruleset/reading.h"

namespace rulerun {
namespace {

constexpr std::string_view kKernels = "kernels";  // the fact of a platform that is a path

class ManifestReader {
 public:
  ManifestReader(const std::string& path, const RawRuleSet& raw, Diagnostics& errors)
      : raw_(raw), manifest_(raw.manifest), errors_(errors), rules_(std::make_shared<RuleSet>()) {
    rules_->path = path;
  }

  std::shared_ptr<const RuleSet> Read() {
    rules_->id = TextOf(manifest_, "ruleset");
    rules_->version = TextOf(manifest_, "version");
    rules_->describes = TextOf(manifest_, "describes");
    rules_->extends = raw_.extends;
    rules_->refuse_invalid_replacement = TextOf(manifest_, "invalid-replacement") == "refuse";
    if (const Yaml* platforms = manifest_.Get("platforms")) ReadPlatforms(*platforms);
    if (const Yaml* options = manifest_.Get("options")) ReadOptions(*options);
    if (const Yaml* sets = manifest_.Get("sets")) ReadTypeSets(*sets, rules_->vocabulary.type_sets, errors_);
    ReadWords();
    ReadFiles();
    ReadStages();
    AddDerived();
    if (!errors_.ok()) return nullptr;
    Check();
    return errors_.ok() ? rules_ : nullptr;
  }

 private:
  void ReadPlatforms(const Yaml& map) {
    for (const auto& [name, facts] : map.entries) {
      Platform& platform = rules_->platforms[name];
      platform.name = name;
      if (!facts.IsMap()) {
        errors_.Add(Code::kBadValue, facts.where, "a platform is a map of facts");
        continue;
      }
      for (const auto& [fact, value] : facts.entries) ReadFact(fact, value, platform);
    }
  }

  void ReadFact(const std::string& name, const Yaml& value, Platform& platform) {
    if (const auto truth = value.AsBool()) {
      platform.facts[name] = *truth ? 1 : 0;
    } else if (const auto number = value.AsInt()) {
      platform.facts[name] = *number;
    } else if (!value.IsScalar()) {
      errors_.Add(Code::kBadValue, value.where, "a fact is a whole number, true, false or a text");
    } else {
      platform.texts[name] = name == kKernels ? ExistingFile(value) : value.scalar;
    }
  }

  std::string ExistingFile(const Yaml& value) {
    std::string path = ResolvePath(value);
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored))
      errors_.Add(Code::kMissingFile, value.where, "there is no file " + path);
    return path;
  }

  void ReadOptions(const Yaml& map) {
    for (const auto& [name, value] : map.entries) {
      if (!CheckMap(value, KeyTable::kOption, errors_)) continue;
      Option& option = rules_->options[name];
      option.name = name;
      option.key = TextOf(value, "key");
      const Yaml& fallback = *value.Get("default");
      if (fallback.scalar == "platform") {
        CheckPlatformFact(name, fallback.where);
      } else if (const auto number = fallback.AsInt()) {
        option.value = *number;
      } else {
        errors_.Add(Code::kBadValue, fallback.where, "the default is a whole number, or platform");
      }
      if (const Yaml* range = value.Get("range")) ReadRange(*range, option);
    }
  }

  void CheckPlatformFact(const std::string& name, const Location& where) {
    for (const auto& [platform, facts] : rules_->platforms) {
      if (facts.facts.count(name) > 0) continue;
      errors_.Add(Code::kUnknownGate, where,
                  std::string("the platform '").append(platform).append("' has no fact '").append(name) + "'");
    }
  }

  void ReadRange(const Yaml& range, Option& option) {
    const bool is_range =
        range.IsSequence() && range.items.size() == 2 && range.items[0].AsInt() && range.items[1].AsInt();
    if (!is_range) return errors_.Add(Code::kBadValue, range.where, "a range is [lowest, highest]");
    option.min = *range.items[0].AsInt();
    option.max = *range.items[1].AsInt();
  }

  void ReadWords() {
    const Yaml* ops = manifest_.Get("ops");
    if (ops == nullptr) return;
    if (const Yaml* schemas = ops->Get("schemas")) {
      for (const Yaml& path : schemas->IsSequence() ? schemas->items : std::vector<Yaml>{*schemas}) {
        ReadSchemas(ExistingFile(path), rules_->schemas, errors_);
      }
    }
    ReadVocabulary(*ops, *rules_, errors_);
  }

  void ReadFiles() {
    for (const auto& [path, raw_file] : raw_.files) {
      rules_->files[raw_file.key] = ReadRuleFile(raw_file.yaml, raw_file.key, *rules_, errors_);
      keys_[path] = raw_file.key;
    }
  }

  void ReadStages() {
    const Yaml* pipeline = manifest_.Get("pipeline");
    if (pipeline == nullptr) return errors_.Add(Code::kMissingKey, manifest_.where, "the rule set has no 'pipeline'");
    ReadTables(*pipeline);
    rules_->pipeline = ReadPipeline(*pipeline, *rules_, keys_, errors_);
  }

  void ReadTables(const Yaml& stages) {
    for (const Yaml& stage : stages.items) {
      if (const Yaml* inner = stage.Get("stages")) ReadTables(*inner);
      const Yaml* named = stage.Get("table");
      if (named == nullptr || !named->IsScalar()) continue;
      const std::string path = ResolvePath(*named);
      if (keys_.count(path) > 0) continue;
      auto table = ReadYaml(path);
      if (!table.ok()) {
        errors_.Add(table.error().code, named->where, ToString(table.error()));
        continue;
      }
      const std::string key = rules_->tables.count(named->scalar) > 0 ? path : named->scalar;
      rules_->tables[key] = std::move(table).value();
      keys_[path] = key;
    }
  }

  // What `extends` leaves for the typed rules: conditions of `everywhere`, and faults that were closed.
  void AddDerived() {
    for (auto& [key, file] : rules_->files) {
      const ReadContext context{*rules_, file.sets, errors_};
      for (const auto& rule : file.rules) {
        const auto closed = raw_.closed.find(rule->name);
        if (closed != raw_.closed.end()) rule->closed = closed->second;
        if (!rule->is_unit) continue;
        for (const Yaml& list : raw_.everywhere) AddEverywhere(ReadConditions(list, context), *rule);
      }
    }
  }

  void Check() {
    for (const auto& [key, file] : rules_->files) {
      CheckOperators(file, *rules_, errors_);
      for (const auto& rule : file.rules) {
        const size_t before = errors_.size();
        CheckNames(*rule, file, *rules_, errors_);
        CheckLines(*rule, errors_);
        if (errors_.size() == before) CheckRewrites(*rule, errors_);
        CheckOperators(*rule, *rules_, errors_);
      }
    }
    CheckReach(*rules_, errors_);
  }

  const RawRuleSet& raw_;
  const Yaml& manifest_;
  Diagnostics& errors_;
  std::shared_ptr<RuleSet> rules_;
  FileKeys keys_;
};

}  // namespace

const Rule* RuleSet::FindRule(std::string_view name) const {
  for (const auto& [key, file] : files) {
    for (const auto& rule : file.rules) {
      if (rule->name == name) return rule.get();
    }
  }
  return nullptr;
}

Result<std::shared_ptr<const RuleSet>> ReadRuleSet(const std::string& path, const std::vector<std::string>& search) {
  Diagnostics errors;
  RawRuleSet raw;
  if (!ReadRaw(path, search, raw, errors)) return errors.Take();
  auto rules = ManifestReader(path, raw, errors).Read();
  if (rules == nullptr) return errors.Take();
  return rules;
}

}  // namespace rulerun
