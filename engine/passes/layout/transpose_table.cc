#include "engine/passes/layout/transpose_table.h"

#include <algorithm>

#include "engine/passes/layout/table_reader.h"

namespace rulerun {
namespace {

const std::vector<std::string> kRowKeys = {
    "handler",    "slots", "ops",      "axis", "axis_since", "two_sides", "input_since", "range_since",
    "zero_since", "alone", "assigned", "type", "rank",       "perms",     "becomes",     "drop_attributes"};

Slots ReadSlots(const Yaml& row, TableReader& reader) {
  Slots slots;
  const Yaml* yaml = row.Get("slots");
  if (yaml == nullptr) {
    reader.Fail(row, "'slots' must be given");
  } else if (yaml->IsScalar()) {
    slots.kind =
        reader.Choice(*yaml, "slots", {"all", "non-scalar"}) == 0 ? Slots::Kind::kAll : Slots::Kind::kNonScalar;
  } else if (yaml->IsMap()) {
    reader.CheckKeys(*yaml, {"from", "step"});
    slots.kind = Slots::Kind::kStepped;
    slots.from = static_cast<size_t>(std::max(reader.IntOr(*yaml, "from", 0), 0));
    slots.step = static_cast<size_t>(std::max(reader.IntOr(*yaml, "step", 1), 1));
  } else {
    for (const int64_t slot : reader.Ints(row, "slots")) slots.list.push_back(static_cast<size_t>(slot));
  }
  return slots;
}

void ReadPerms(const Yaml& yaml, TableReader& reader, HandlerRow& row) {
  const Yaml* perms = yaml.Get("perms");
  if (perms == nullptr) return;
  row.any_perm = false;
  row.to_channels_first = row.to_channels_last = false;
  for (const Yaml* perm : reader.Rows(yaml, "perms")) {
    const bool first = reader.Choice(*perm, "permutation", {"to-channels-first", "to-channels-last"}) == 0;
    (first ? row.to_channels_first : row.to_channels_last) = true;
  }
}

HandlerRow ReadRow(const Yaml& yaml, TableReader& reader) {
  HandlerRow row;
  std::vector<std::string> names;
  for (const HandlerKind& kind : HandlerKinds()) names.push_back(kind.name);
  const Yaml* name = yaml.Get("handler");
  if (name == nullptr) {
    reader.Fail(yaml, "'handler' must be given");
  } else {
    row.kind = &HandlerKinds()[reader.Choice(*name, "handler", names)];
  }
  row.slots = ReadSlots(yaml, reader);
  row.axis = reader.Int(yaml, "axis");
  row.axis_since = reader.IntOr(yaml, "axis_since", 0);
  row.input_since = reader.IntOr(yaml, "input_since", 0);
  row.range_since = reader.IntOr(yaml, "range_since", 0);
  row.zero_since = reader.IntOr(yaml, "zero_since", 0);
  if (const Yaml* sides = yaml.Get("two_sides"); sides != nullptr && reader.CheckKeys(*sides, {"before", "axis"})) {
    row.two_sides_before = reader.IntOr(*sides, "before", 0);
    row.two_sides_axis = reader.IntOr(*sides, "axis", 1);
  }
  row.alone = reader.Flag(yaml, "alone");
  row.assigned = reader.Flag(yaml, "assigned");
  row.types = reader.Types(yaml, "type");
  if (const auto rank = reader.Int(yaml, "rank")) row.rank = static_cast<size_t>(*rank);
  ReadPerms(yaml, reader, row);
  row.becomes = reader.TextOr(yaml, "becomes", "");
  row.drop_attributes = reader.Names(yaml, "drop_attributes");
  return row;
}

void ReadRows(const Yaml& yaml, std::string_view key, TableReader& reader, TransposeTable& table) {
  for (const Yaml* item : reader.Rows(yaml, key)) {
    if (!reader.CheckKeys(*item, kRowKeys)) continue;
    const HandlerRow row = ReadRow(*item, reader);
    for (const std::string& op : reader.Names(*item, "ops", true)) table.rows[op] = row;
  }
}

void ReadHelpers(const Yaml& yaml, TableReader& reader, TransposeTable& table) {
  const Yaml* helpers = yaml.Get("helpers");
  if (helpers == nullptr) return reader.Fail(yaml, "'helpers' must be given");
  if (!reader.CheckKeys(*helpers, {"transpose", "squeeze", "unsqueeze", "axes_input_since", "gather", "copy",
                                   "quantize", "dequantize"})) {
    return;
  }
  table.transpose = reader.Text(*helpers, "transpose");
  table.squeeze = reader.Text(*helpers, "squeeze");
  table.unsqueeze = reader.Text(*helpers, "unsqueeze");
  table.axes_input_since = reader.IntOr(*helpers, "axes_input_since", 0);
  table.gather = reader.Text(*helpers, "gather");
  table.copy = reader.Text(*helpers, "copy");
  const auto quantize = reader.Names(*helpers, "quantize", true);
  const auto dequantize = reader.Names(*helpers, "dequantize", true);
  table.quantize.insert(quantize.begin(), quantize.end());
  table.dequantize.insert(dequantize.begin(), dequantize.end());
}

void ReadAlwaysPush(const Yaml& yaml, TableReader& reader, TransposeTable& table) {
  for (const Yaml* item : reader.Rows(yaml, "always_push")) {
    if (!reader.CheckKeys(*item, {"op", "rank", "type", "attributes"})) continue;
    AlwaysPush& push = table.always_push[reader.Text(*item, "op")];
    if (const auto rank = reader.Int(*item, "rank")) push.rank = static_cast<size_t>(*rank);
    push.types = reader.Types(*item, "type");
    push.attributes = reader.Attributes(*item, "attributes");
  }
}

std::string InDomain(const std::set<std::string>& ops, const std::string& domain) {
  for (const std::string& op : ops) {
    if (ParseOpName(op).domain == domain) return op;
  }
  return "";
}

}  // namespace

const HandlerRow* TransposeTable::RowOf(const Node& node) const {
  const auto found = rows.find(node.Op());
  return found == rows.end() ? nullptr : &found->second;
}

std::string TransposeTable::QuantizeIn(const std::string& domain) const { return InDomain(quantize, domain); }
std::string TransposeTable::DequantizeIn(const std::string& domain) const { return InDomain(dequantize, domain); }

Result<TransposeTable> ReadTransposeTable(const Yaml* yaml) {
  TableReader reader(yaml, "transpose-optimizer");
  if (!reader.ok()) return reader.Take();
  TransposeTable table;
  reader.CheckKeys(*yaml, {"pass", "opset", "constant", "helpers", "handlers", "extended", "always_push"});
  if (const Yaml* opset = yaml->Get("opset"); opset != nullptr && reader.CheckKeys(*opset, {"min", "max"})) {
    table.min_opset = reader.IntOr(*opset, "min", 0);
    table.max_opset = reader.IntOr(*opset, "max", 0);
  }
  table.constant = reader.Text(*yaml, "constant");
  ReadHelpers(*yaml, reader, table);
  ReadRows(*yaml, "handlers", reader, table);
  ReadRows(*yaml, "extended", reader, table);
  ReadAlwaysPush(*yaml, reader, table);
  if (!reader.ok()) return reader.Take();
  return table;
}

}  // namespace rulerun
