#include "engine/passes/layout/nchwc_table.h"

#include <algorithm>

#include "engine/passes/layout/nchwc_graph.h"
#include "engine/passes/layout/table_reader.h"

namespace rulerun {
namespace {

NchwcHandler HandlerOf(const Yaml& row, TableReader& reader) {
  static const std::vector<std::string> kNames = {"transpose", "conv",       "pool",          "multiply", "add",
                                                  "concat",    "activation", "normalization", "resize"};
  static constexpr NchwcHandler kHandlers[] = {&Nchwc::Transpose, &Nchwc::Convolve,  &Nchwc::Pool,
                                               &Nchwc::Multiply,  &Nchwc::Add,       &Nchwc::Concatenate,
                                               &Nchwc::Activate,  &Nchwc::Normalize, &Nchwc::Resize};
  const Yaml* name = row.Get("handler");
  if (name != nullptr) return kHandlers[reader.Choice(*name, "handler", kNames)];
  reader.Fail(row, "'handler' must be given");
  return nullptr;
}

std::optional<NchwcGate> ReadGate(const Yaml& row, TableReader& reader) {
  const Yaml* yaml = row.Get("gate");
  if (yaml == nullptr) return std::nullopt;
  NchwcGate gate;
  gate.multiply = reader.Text(*yaml, "multiply");
  gate.activation = reader.Text(*yaml, "activation");
  for (const auto& [name, value] : yaml->entries) {
    if (name == "multiply" || name == "activation") continue;
    gate.attributes[name] = static_cast<float>(reader.Number(*yaml, name).value_or(0));
  }
  return gate;
}

NchwcRow ReadRow(const Yaml& yaml, TableReader& reader) {
  NchwcRow row;
  row.handle = HandlerOf(yaml, reader);
  row.since = reader.Ints(yaml, "since");
  row.converted = reader.Flag(yaml, "converted");
  row.becomes = reader.TextOr(yaml, "becomes", "");
  if (const auto slot = reader.Int(yaml, "sum")) row.sum = static_cast<size_t>(*slot);
  row.not_padded_ceil = reader.Flag(yaml, "not_padded_ceil");
  row.fuse = reader.Flag(yaml, "fuse");
  if (const Yaml* parameters = yaml.Get("parameters")) {
    for (const auto& entry : parameters->entries) {
      row.parameters.emplace_back(entry.first, static_cast<float>(reader.Number(*parameters, entry.first).value_or(0)));
    }
  }
  row.gate = ReadGate(yaml, reader);
  return row;
}

}  // namespace

const NchwcRow* NchwcTable::RowOf(const Node& node) const {
  const auto found = rows.find(node.Op());
  if (found == rows.end()) return nullptr;
  const std::vector<int64_t>& since = found->second.since;
  return std::find(since.begin(), since.end(), node.since_version) != since.end() ? &found->second : nullptr;
}

Result<NchwcTable> ReadNchwcTable(const Yaml* yaml) {
  TableReader reader(yaml, "nchwc");
  if (!reader.ok()) return reader.Take();
  NchwcTable table;
  reader.CheckKeys(*yaml, {"pass", "block", "channel_alignment", "helpers", "rows"});
  table.block = reader.Text(*yaml, "block");
  table.channel_alignment = std::max(reader.IntOr(*yaml, "channel_alignment", 1), 1);
  const Yaml* helpers = yaml->Get("helpers");
  if (helpers == nullptr) {
    reader.Fail(*yaml, "'helpers' must be given");
  } else if (reader.CheckKeys(*helpers, {"conv", "upsample", "reorder_input", "reorder_output", "reshape"})) {
    table.conv = reader.Text(*helpers, "conv");
    table.upsample = reader.Text(*helpers, "upsample");
    table.reorder_input = reader.Text(*helpers, "reorder_input");
    table.reorder_output = reader.Text(*helpers, "reorder_output");
    table.reshape = reader.Text(*helpers, "reshape");
  }
  for (const Yaml* item : reader.Rows(*yaml, "rows")) {
    if (!reader.CheckKeys(*item, {"handler", "ops", "since", "converted", "becomes", "sum", "not_padded_ceil", "fuse",
                                  "parameters", "gate"})) {
      continue;
    }
    const NchwcRow row = ReadRow(*item, reader);
    for (const std::string& op : reader.Names(*item, "ops", true)) table.rows.try_emplace(op, row);
  }
  if (!reader.ok()) return reader.Take();
  return table;
}

}  // namespace rulerun
