// The diff report as JSON.
#include <nlohmann/json.hpp>

#include "engine/base/codes.h"
#include "engine/report/diff.h"

namespace rulerun {
namespace {

using nlohmann::ordered_json;

void Add(ordered_json& json, const char* key, const std::string& value) {
  if (!value.empty()) json[key] = value;
}

template <typename T, typename Convert>
ordered_json ListOf(const std::vector<T>& items, const Convert& convert) {
  ordered_json list = ordered_json::array();
  for (const T& item : items) list.push_back(convert(item));
  return list;
}

ordered_json SideJson(const DiffSide& side) {
  ordered_json json = {{"rules", side.rules},       {"level", side.level},     {"ep", side.provider},
                       {"platform", side.platform}, {"options", side.options}, {"disabled", side.disabled}};
  if (side.refused) json["refused"] = {{"code", Name(side.refused->code)}, {"message", ToString(*side.refused)}};
  return json;
}

ordered_json OutcomeJson(const NodeFate& fate, const std::vector<std::string>& forms) {
  ordered_json json = {{"fate", Name(fate.fate)}, {"forms", forms}};
  Add(json, "into", fate.into);
  Add(json, "now", fate.now);
  Add(json, "rule", fate.rule);
  Add(json, "place", fate.place);
  if (fate.fate != Fate::kFloat) return json;
  json["code"] = Name(CodeOf(fate.reason.kind));
  Add(json, "reason", fate.reason.Text());
  return json;
}

ordered_json CauseJson(const DiffCause& cause) {
  ordered_json json = {{"code", Name(CodeOf(cause.kind))},
                       {"rule", cause.rule},
                       {"fired", Name(cause.fired)},
                       {"otherwise", Name(cause.kind)},
                       {"message", cause.message}};
  Add(json, "check", cause.check);
  Add(json, "place", cause.place);
  Add(json, "refusal_place", cause.refusal_place);
  return json;
}

ordered_json NodeJson(const NodeDiff& node) {
  ordered_json json = {{"name", node.node.name}, {"op", node.node.op}};
  for (const Side side : kSides) json[std::string(Name(side))] = OutcomeJson(node.fates[side], node.forms[side]);
  if (node.cause) json["cause"] = CauseJson(*node.cause);
  return json;
}

ordered_json RuleJson(const RuleDiff& rule) {
  return {{"rule", rule.rule},
          {"pass", rule.pass},
          {"left", rule.fired[Side::kLeft]},
          {"right", rule.fired[Side::kRight]},
          {"only_left", rule.only[Side::kLeft]},
          {"only_right", rule.only[Side::kRight]}};
}

ordered_json InsertedJson(const InsertedDiff& row) {
  return {{"op", row.op}, {"rule", row.rule}, {"left", row.count[Side::kLeft]}, {"right", row.count[Side::kRight]}};
}

}  // namespace

std::string ToJson(const Diff& diff) {
  const ordered_json json = {{"model", diff.model},
                             {"left", SideJson(diff.sides[Side::kLeft])},
                             {"right", SideJson(diff.sides[Side::kRight])},
                             {"same", diff.same},
                             {"node_count", diff.node_count},
                             {"nodes", ListOf(diff.nodes, NodeJson)},
                             {"inserted", ListOf(diff.inserted, InsertedJson)},
                             {"rules", ListOf(diff.rules, RuleJson)},
                             {"structure", diff.structure}};
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace rulerun
