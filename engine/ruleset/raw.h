// A rule set as YAML: manifest and rule files, with `extends` and `like` worked in, before anything is typed.
// Internal to engine/ruleset.
#ifndef RULERUN_ENGINE_RULESET_RAW_H_
#define RULERUN_ENGINE_RULESET_RAW_H_

#include <map>
#include <string>
#include <vector>

#include "engine/ruleset/diagnostics.h"
#include "engine/ruleset/yaml.h"

namespace rulerun {

struct RawFile {
  std::string key;  // as the manifest names it; the whole path where two manifests use one name for different files
  Yaml yaml;
  std::vector<std::string> together;  // paths of the files that it was put together from, its own first
};

struct RawRuleSet {
  std::string id;
  Yaml manifest;
  std::vector<std::string> extends;                        // ids, nearest first
  std::map<std::string, RawFile> files;                    // by path
  std::vector<Yaml> everywhere;                            // lists of conditions
  std::map<std::string, std::vector<std::string>> closed;  // rule -> ids of faults
};

// Reads the manifest in `path`, what it extends, and every rule file that the pipeline names. False where errors were
// added.
bool ReadRaw(const std::string& path, const std::vector<std::string>& search, RawRuleSet& raw, Diagnostics& errors);

// stage_files.cc: reads the files that the pipeline names, those of one stage into one, and forgets those that it no
// longer names. A stage goes by its first file afterwards.
void ReadStageFiles(RawRuleSet& raw, Diagnostics& errors);

// extends.cc: applies the changes listed under `rules` of a derived manifest.
void ApplyEdits(const Yaml& edits, RawRuleSet& raw, Diagnostics& errors);
// Lays a derived manifest over the one it extends.
void MergeManifest(const Yaml& derived, Yaml& base);

// like.cc: takes over what rows with `like` leave out. Of the rules in one file.
void ResolveLikes(Yaml& file, Diagnostics& errors);
// Of one rule, from any rule in `files`.
void ResolveLike(Yaml& rule, const RawRuleSet& raw, Diagnostics& errors);

// Edits of YAML maps.
Yaml* Find(Yaml& map, std::string_view key);
void Set(Yaml& map, const std::string& key, const Yaml& value, const Location& key_place);
void Erase(Yaml& map, std::string_view key);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_RULESET_RAW_H_
