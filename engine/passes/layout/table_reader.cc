#include "engine/passes/layout/table_reader.h"

#include <algorithm>

#include "engine/base/codes.h"
#include "engine/base/text.h"

namespace rulerun {

TableReader::TableReader(const Yaml* table, std::string_view pass) {
  if (table == nullptr) {
    errors_.Add(Code::kBadTable, Location(), "the pass '" + std::string(pass) + "' needs a table",
                "Name one: table: FILE");
  } else if (const Yaml* name = table->Get("pass"); name == nullptr || name->scalar != pass) {
    errors_.Add(Code::kBadTable, table->where, "this is no table of the pass '" + std::string(pass) + "'",
                "Its first key must be 'pass: " + std::string(pass) + "'.");
  }
}

void TableReader::Fail(const Yaml& where, std::string message, std::string remedy) {
  errors_.Add(Code::kBadTable, where.where, std::move(message), std::move(remedy));
}

bool TableReader::CheckKeys(const Yaml& map, const std::vector<std::string>& known) {
  if (!map.IsMap()) {
    Fail(map, "expected a map");
    return false;
  }
  for (size_t i = 0; i < map.entries.size(); ++i) {
    const std::string& key = map.entries[i].first;
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    const Location& place = i < map.key_places.size() ? map.key_places[i] : map.where;
    errors_.Add(Code::kUnknownKey, place, "unknown key '" + key + "'" + DidYouMean(key, known));
  }
  return true;
}

size_t TableReader::Choice(const Yaml& word, std::string_view what, const std::vector<std::string>& known) {
  const auto found = std::find(known.begin(), known.end(), word.scalar);
  if (found != known.end()) return static_cast<size_t>(found - known.begin());
  Fail(word, "unknown " + std::string(what) + " '" + word.scalar + "'" + DidYouMean(word.scalar, known));
  return 0;
}

std::vector<const Yaml*> TableReader::Rows(const Yaml& map, std::string_view key) {
  std::vector<const Yaml*> rows;
  const Yaml* list = map.Get(key);
  if (list == nullptr) return rows;
  if (!list->IsSequence()) {
    Fail(*list, "'" + std::string(key) + "' must be a list");
    return rows;
  }
  for (const Yaml& row : list->items) rows.push_back(&row);
  return rows;
}

std::string TableReader::Text(const Yaml& map, std::string_view key) {
  const Yaml* value = map.Get(key);
  if (value != nullptr && value->IsScalar()) return value->scalar;
  Fail(value != nullptr ? *value : map, "'" + std::string(key) + "' must be given, as one word");
  return "";
}

std::string TableReader::TextOr(const Yaml& map, std::string_view key, std::string fallback) {
  return map.Get(key) == nullptr ? std::move(fallback) : Text(map, key);
}

std::vector<std::string> TableReader::Names(const Yaml& map, std::string_view key, bool required) {
  const Yaml* value = map.Get(key);
  if (value == nullptr && !required) return {};
  auto names = value == nullptr ? std::nullopt : value->AsNames();
  if (names && !(required && names->empty())) return *std::move(names);
  Fail(value != nullptr ? *value : map, "'" + std::string(key) + "' must be a list of names");
  return {};
}

std::optional<int64_t> TableReader::Int(const Yaml& map, std::string_view key) {
  const Yaml* value = map.Get(key);
  if (value == nullptr) return std::nullopt;
  const auto number = value->AsInt();
  if (!number) Fail(*value, "'" + std::string(key) + "' must be an integer");
  return number;
}

int TableReader::IntOr(const Yaml& map, std::string_view key, int fallback) {
  return static_cast<int>(Int(map, key).value_or(fallback));
}

std::vector<int64_t> TableReader::Ints(const Yaml& map, std::string_view key) {
  std::vector<int64_t> numbers;
  const Yaml* value = map.Get(key);
  if (value == nullptr) return numbers;
  if (const auto one = value->AsInt()) return {*one};
  for (const Yaml& item : value->items) {
    const auto number = item.AsInt();
    if (number) numbers.push_back(*number);
  }
  if (!value->IsSequence() || numbers.size() != value->items.size()) {
    Fail(*value, "'" + std::string(key) + "' must be a list of integers");
  }
  return numbers;
}

std::optional<double> TableReader::Number(const Yaml& map, std::string_view key) {
  const Yaml* value = map.Get(key);
  if (value == nullptr) return std::nullopt;
  const auto number = value->AsDouble();
  if (!number) Fail(*value, "'" + std::string(key) + "' must be a number");
  return number;
}

bool TableReader::Flag(const Yaml& map, std::string_view key) {
  const Yaml* value = map.Get(key);
  if (value == nullptr) return false;
  const auto flag = value->AsBool();
  if (!flag) Fail(*value, "'" + std::string(key) + "' must be true or false");
  return flag.value_or(false);
}

std::vector<DataType> TableReader::Types(const Yaml& map, std::string_view key) {
  std::vector<DataType> types;
  for (const std::string& name : Names(map, key)) {
    const auto type = ParseDataType(name);
    if (type) {
      types.push_back(*type);
    } else {
      Fail(*map.Get(key), "unknown element type '" + name + "'" + DidYouMean(name, DataTypeNames()));
    }
  }
  return types;
}

AttributeMap TableReader::Attributes(const Yaml& map, std::string_view key) {
  AttributeMap attributes;
  const Yaml* values = map.Get(key);
  if (values == nullptr) return attributes;
  if (!values->IsMap()) Fail(*values, "'" + std::string(key) + "' must be a map");
  for (const auto& [name, value] : values->entries) {
    if (const auto integer = value.AsInt()) {
      attributes[name] = *integer;
    } else if (const auto number = value.AsDouble()) {
      attributes[name] = static_cast<float>(*number);
    } else {
      attributes[name] = value.scalar;
    }
  }
  return attributes;
}

}  // namespace rulerun
