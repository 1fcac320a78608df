// `if` and `unless`, and the names of levels.
#include <algorithm>
#include <array>
#include <cctype>

#include "engine/base/codes.h"
#include "engine/base/text.h"
#include "engine/ruleset/reading.h"

namespace rulerun {
namespace {

struct LevelName {
  std::string_view name;
  Level level;
};
// The first of each level is what it is called here.
constexpr auto kLevels = std::to_array<LevelName>({
    {"disabled", Level::kDisabled},
    {"basic", Level::kBasic},
    {"extended", Level::kExtended},
    {"layout", Level::kLayout},
    {"all", Level::kAll},
    {"0", Level::kDisabled},
    {"1", Level::kBasic},
    {"2", Level::kExtended},
    {"3", Level::kLayout},
    {"99", Level::kAll},
    {"disable_all", Level::kDisabled},
    {"enable_basic", Level::kBasic},
    {"enable_extended", Level::kExtended},
    {"enable_layout", Level::kLayout},
    {"enable_all", Level::kAll},
});

std::vector<std::string> LevelNames() {
  std::vector<std::string> names;
  for (const LevelName& level : kLevels) names.emplace_back(level.name);
  return names;
}

std::optional<int64_t> Bound(const Yaml& yaml, Gate::Kind kind, Diagnostics& errors) {
  if (kind == Gate::Kind::kLevel && yaml.IsScalar()) {
    if (const auto level = ParseLevel(yaml.scalar)) return static_cast<int64_t>(*level);
    errors.Add(Code::kUnknownGate, yaml.where,
               "'" + yaml.scalar + "' is no optimization level" + DidYouMean(yaml.scalar, LevelNames()));
    return std::nullopt;
  }
  if (const auto number = yaml.AsInt()) return number;
  errors.Add(Code::kBadValue, yaml.where, "expected a whole number");
  return std::nullopt;
}

// option and fact: a name, a list of names, or {name: value}.
void ReadNamed(const Yaml& yaml, Gate::Kind kind, const ReadContext& context, Gate& gate) {
  const auto add = [&](const std::string& name, const Location& where, std::optional<int64_t> equals) {
    const bool known = kind == Gate::Kind::kOption ? context.CheckOption(name, where) : context.CheckFact(name, where);
    if (!known) return;
    Gate::Item item;
    item.kind = kind;
    item.name = name;
    item.equals = equals;
    gate.items.push_back(std::move(item));
  };
  if (yaml.IsMap()) {
    for (size_t i = 0; i < yaml.entries.size(); ++i) {
      const Yaml& value = yaml.entries[i].second;
      const auto truth = value.AsBool();
      const std::optional<int64_t> wanted = truth ? std::optional<int64_t>(*truth ? 1 : 0) : value.AsInt();
      if (!wanted) context.errors.Add(Code::kBadValue, value.where, "expected a whole number, true or false");
      add(yaml.entries[i].first, yaml.key_places[i], wanted);
    }
    return;
  }
  if (!yaml.AsNames()) {
    context.errors.Add(Code::kBadValue, yaml.where, "expected a name, a list of names, or {name: value}");
    return;
  }
  if (yaml.IsScalar()) return add(yaml.scalar, yaml.where, std::nullopt);
  for (const Yaml& item : yaml.items) add(item.scalar, item.where, std::nullopt);
}

}  // namespace

std::string_view Name(Level level) {
  for (const LevelName& known : kLevels) {
    if (known.level == level) return known.name;
  }
  return "";
}

std::optional<Level> ParseLevel(std::string_view text) {
  std::string wanted;
  for (const char c : text) wanted += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (StartsWith(wanted, "ort_")) wanted = wanted.substr(4);
  for (const LevelName& known : kLevels) {
    if (known.name == wanted) return known.level;
  }
  return std::nullopt;
}

std::optional<Gate::Item> ReadRange(const Yaml& yaml, Gate::Kind kind, Diagnostics& errors) {
  Gate::Item item;
  item.kind = kind;
  if (kind == Gate::Kind::kLevel && yaml.IsScalar()) {
    const auto level = Bound(yaml, kind, errors);
    if (!level) return std::nullopt;
    item.min = *level;
    return item;
  }
  if (!yaml.IsMap() || yaml.entries.empty()) {
    errors.Add(Code::kBadValue, yaml.where, "expected {min: ...}, {below: ...} or both");
    return std::nullopt;
  }
  for (size_t i = 0; i < yaml.entries.size(); ++i) {
    const auto& [key, value] = yaml.entries[i];
    const auto bound = Bound(value, kind, errors);
    if (!bound) return std::nullopt;
    if (key == "min") {
      item.min = *bound;
    } else if (key == "below") {
      item.below = *bound;
    } else {
      errors.Add(Code::kUnknownKey, yaml.key_places[i],
                 "'" + key + "' is neither min nor below" + DidYouMean(key, {"min", "below"}));
    }
  }
  return item;
}

Gate ReadGate(const Yaml* yaml, const ReadContext& context) {
  Gate gate;
  if (yaml == nullptr || !CheckMap(*yaml, KeyTable::kGate, context.errors)) return gate;
  if (yaml->entries.empty()) context.errors.Add(Code::kBadValue, yaml->where, "an empty gate says nothing");
  for (const auto& [key, value] : yaml->entries) {
    if (key == "option" || key == "fact") {
      ReadNamed(value, key == "option" ? Gate::Kind::kOption : Gate::Kind::kFact, context, gate);
    } else {
      const auto range = ReadRange(value, key == "opset" ? Gate::Kind::kOpset : Gate::Kind::kLevel, context.errors);
      if (range) gate.items.push_back(*range);
    }
  }
  return gate;
}

}  // namespace rulerun
