// Reads the YAML tables of the layout passes; every error has its place and the nearest valid spelling.
#ifndef RULERUN_ENGINE_PASSES_LAYOUT_TABLE_READER_H_
#define RULERUN_ENGINE_PASSES_LAYOUT_TABLE_READER_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/graph/attribute.h"
#include "engine/graph/tensor.h"
#include "engine/ruleset/diagnostics.h"
#include "engine/ruleset/yaml.h"

namespace rulerun {

class TableReader {
 public:
  // Checks that the table is there and belongs to `pass`.
  TableReader(const Yaml* table, std::string_view pass);

  bool ok() const { return errors_.ok(); }
  Error Take() { return errors_.Take(); }
  void Fail(const Yaml& where, std::string message, std::string remedy = "");

  // Adds an error for every key of `map` that is not among `known`, and where it is no map. False: no map.
  bool CheckKeys(const Yaml& map, const std::vector<std::string>& known);
  // Index of `word` among `known`; an error, and 0, where it is none of them.
  size_t Choice(const Yaml& word, std::string_view what, const std::vector<std::string>& known);

  // The maps of the list under `key`; none where it is absent.
  std::vector<const Yaml*> Rows(const Yaml& map, std::string_view key);
  std::string Text(const Yaml& map, std::string_view key);  // required
  std::string TextOr(const Yaml& map, std::string_view key, std::string fallback);
  std::vector<std::string> Names(const Yaml& map, std::string_view key, bool required = false);
  std::optional<int64_t> Int(const Yaml& map, std::string_view key);
  int IntOr(const Yaml& map, std::string_view key, int fallback);
  std::vector<int64_t> Ints(const Yaml& map, std::string_view key);
  std::optional<double> Number(const Yaml& map, std::string_view key);
  bool Flag(const Yaml& map, std::string_view key);
  std::vector<DataType> Types(const Yaml& map, std::string_view key);
  // The map under `key` as attribute values: integers, other numbers, texts.
  AttributeMap Attributes(const Yaml& map, std::string_view key);

 private:
  Diagnostics errors_;
};

}  // namespace rulerun

#endif  // RULERUN_ENGINE_PASSES_LAYOUT_TABLE_READER_H_
