#include "engine/ruleset/raw.h"

#include <algorithm>
#include <filesystem>

#include "engine/base/codes.h"
#include "engine/base/text.h"
#include "engine/ruleset/keys.h"
#include "engine/ruleset/reading.h"

namespace rulerun {
namespace {

constexpr size_t kMostLevels = 16;  // of rule sets that extend one another

class RawReader {
 public:
  RawReader(const std::vector<std::string>& search, Diagnostics& errors) : search_(search), errors_(errors) {}

  bool Read(const std::string& path, RawRuleSet& raw) {
    const size_t before = errors_.size();
    auto manifest = ReadYaml(path);
    if (!manifest.ok()) {
      errors_.Add(manifest.error());
      return false;
    }
    if (!CheckMap(*manifest, KeyTable::kManifest, errors_)) return false;
    InlineOps(*manifest);
    const std::string id = TextOf(*manifest, "ruleset");
    if (const Yaml* base = manifest->Get("extends")) {
      if (!ReadBase(path, *base, raw)) return false;
      raw.extends.insert(raw.extends.begin(), raw.id);
      MergeManifest(*manifest, raw.manifest);
    } else {
      if (const Yaml* edits = manifest->Get("rules")) {
        errors_.Add(Code::kKeysConflict, edits->where,
                    "'rules' changes another rule set, and this one has no 'extends'",
                    "rules of its own stand in files, which the pipeline names");
      }
      raw.manifest = *manifest;
    }
    raw.id = id;
    ReadStageFiles(raw, errors_);
    if (const Yaml* everywhere = manifest->Get("everywhere")) AddEverywhereOf(*everywhere, raw);
    if (errors_.size() == before && manifest->Get("extends") != nullptr && manifest->Get("rules") != nullptr) {
      ApplyEdits(*manifest->Get("rules"), raw, errors_);
    }
    return errors_.size() == before;
  }

 private:
  // `ops: path` is the map in that file.
  void InlineOps(Yaml& manifest) {
    Yaml* ops = Find(manifest, "ops");
    if (ops == nullptr || !ops->IsScalar()) return;
    auto file = ReadYaml(ResolvePath(*ops));
    if (!file.ok()) {
      errors_.Add(file.error().code, ops->where, ToString(file.error()));
    } else {
      *ops = std::move(file).value();
    }
  }

  bool ReadBase(const std::string& path, const Yaml& base, RawRuleSet& raw) {
    const std::string canonical = Canonical(path);
    open_.push_back(canonical);
    const std::string found = Locate(path, base);
    if (found.empty()) return false;
    if (std::find(open_.begin(), open_.end(), Canonical(found)) != open_.end()) {
      errors_.Add(Code::kExtendsCircle, base.where, "the rule sets extend each other in a circle: " + found);
      return false;
    }
    if (open_.size() > kMostLevels) {
      errors_.Add(Code::kExtendsCircle, base.where, "more than 16 rule sets extend one another");
      return false;
    }
    return Read(found, raw);
  }

  static std::string Canonical(const std::string& path) {
    std::error_code ignored;
    return std::filesystem::weakly_canonical(path, ignored).generic_string();
  }

  // A path, or an id: ID.yaml beside the manifest, then in the folders to search.
  std::string Locate(const std::string& path, const Yaml& base) {
    std::vector<std::string> tried;
    const bool is_path = EndsWith(base.scalar, ".yaml") || base.scalar.find('/') != std::string::npos;
    if (is_path) {
      tried.push_back(ResolvePath(base));
    } else {
      std::vector<std::filesystem::path> folders{std::filesystem::path(path).parent_path()};
      folders.insert(folders.end(), search_.begin(), search_.end());
      for (const auto& folder : folders) {
        tried.push_back((folder / (base.scalar + ".yaml")).lexically_normal().generic_string());
      }
    }
    std::error_code ignored;
    for (const std::string& file : tried) {
      if (std::filesystem::exists(file, ignored)) return file;
    }
    errors_.Add(Code::kMissingFile, base.where, "there is no rule set '" + base.scalar + "'",
                "looked for " + Join(tried, ", "));
    return "";
  }

  void AddEverywhereOf(const Yaml& everywhere, RawRuleSet& raw) {
    if (CheckMap(everywhere, KeyTable::kEverywhere, errors_)) raw.everywhere.push_back(*everywhere.Get("where"));
  }

  const std::vector<std::string>& search_;
  Diagnostics& errors_;
  std::vector<std::string> open_;  // manifests being read
};

}  // namespace

Yaml* Find(Yaml& map, std::string_view key) {
  for (auto& [name, value] : map.entries) {
    if (name == key) return &value;
  }
  return nullptr;
}

void Set(Yaml& map, const std::string& key, const Yaml& value, const Location& key_place) {
  for (size_t i = 0; i < map.entries.size(); ++i) {
    if (map.entries[i].first != key) continue;
    map.entries[i].second = value;
    map.key_places[i] = key_place;
    return;
  }
  map.entries.emplace_back(key, value);
  map.key_places.push_back(key_place);
}

void Erase(Yaml& map, std::string_view key) {
  for (size_t i = 0; i < map.entries.size(); ++i) {
    if (map.entries[i].first != key) continue;
    map.entries.erase(map.entries.begin() + static_cast<std::ptrdiff_t>(i));
    map.key_places.erase(map.key_places.begin() + static_cast<std::ptrdiff_t>(i));
    return;
  }
}

bool ReadRaw(const std::string& path, const std::vector<std::string>& search, RawRuleSet& raw, Diagnostics& errors) {
  return RawReader(search, errors).Read(path, raw);
}

}  // namespace rulerun
