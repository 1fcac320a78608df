// YAML as a tree of values that know their place. The YAML library is used in yaml.cc only.
#ifndef RULERUN_ENGINE_RULESET_YAML_H_
#define RULERUN_ENGINE_RULESET_YAML_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "engine/ruleset/location.h"

namespace rulerun {

struct Yaml {
  enum class Kind { kNull, kScalar, kSequence, kMap };

  // Out of line: a map holds pairs of a type that is not complete here.
  Yaml();
  ~Yaml();
  Yaml(const Yaml& other);
  Yaml(Yaml&& other) noexcept;
  Yaml& operator=(const Yaml& other);
  Yaml& operator=(Yaml&& other) noexcept;

  Kind kind = Kind::kNull;
  std::string scalar;
  bool quoted = false;        // written in quotes or as a block scalar: text, whatever it looks like
  int block_line_offset = 0;  // of a block scalar: its first line of text stands this many lines below `where`
  int block_indent = 0;       // of a block scalar: columns in front of each line of its text
  std::string comment;        // of a map that opens a line: the comment at the end of that line
  std::vector<Yaml> items;    // of a sequence
  std::vector<std::pair<std::string, Yaml>> entries;  // of a map, in file order; keys are unique
  std::vector<Location> key_places;                   // of the entries' keys
  Location where;

  bool IsScalar() const { return kind == Kind::kScalar; }
  bool IsSequence() const { return kind == Kind::kSequence; }
  bool IsMap() const { return kind == Kind::kMap; }
  const Yaml* Get(std::string_view key) const;  // of a map; nullptr where absent
  std::optional<int64_t> AsInt() const;         // of an unquoted scalar
  std::optional<double> AsDouble() const;
  std::optional<bool> AsBool() const;  // true, false
  // A scalar as a list of one, a sequence of scalars as their texts; std::nullopt for anything else.
  std::optional<std::vector<std::string>> AsNames() const;
  Location TextStart() const;  // of a scalar: the place of the first character of its text
  std::vector<std::string> Keys() const;
};

// Reads a YAML file; `shown_as` is the file name in places (the path itself if empty).
Result<Yaml> ReadYaml(const std::string& path);
Result<Yaml> ParseYaml(std::string_view text, const std::string& shown_as);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_RULESET_YAML_H_
