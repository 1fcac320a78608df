// The coverage report as JSON.
#include <nlohmann/json.hpp>

#include "engine/report/coverage.h"

namespace rulerun {
namespace {

using nlohmann::ordered_json;

ordered_json AsJson(const NodeFate& fate) {
  ordered_json json = {{"name", fate.node.name}, {"op", fate.node.op}, {"fate", Name(fate.fate)}};
  const auto add = [&](const char* key, const std::string& value) {
    if (!value.empty()) json[key] = value;
  };
  add("into", fate.into);
  add("now", fate.now);
  add("rule", fate.rule);
  add("place", fate.place);
  if (fate.fate != Fate::kFloat) return json;
  json["reason"] = {{"kind", Name(fate.reason.kind)}, {"message", fate.reason.message}};
  if (!fate.reason.rule.empty()) json["reason"]["rule"] = fate.reason.rule;
  if (!fate.reason.check.empty()) json["reason"]["check"] = fate.reason.check;
  if (!fate.reason.place.empty()) json["reason"]["place"] = fate.reason.place;
  return json;
}

ordered_json AsJson(const OpCoverage& row) {
  return {{"op", row.op},       {"group", row.group},           {"count", row.count},     {"int8", row.int8},
          {"moved", row.moved}, {"float", row.in_float},        {"gone", row.gone},       {"other", row.other},
          {"into", row.into},   {"float_into", row.float_into}, {"reasons", row.reasons}, {"removed_by", row.removers}};
}

ordered_json AsJson(const FaultHit& hit) {
  return {{"node", hit.node},     {"op", hit.op},     {"rule", hit.rule},  {"id", hit.id},
          {"effect", hit.effect}, {"note", hit.note}, {"place", hit.place}};
}

ordered_json AsJson(const Coverage& coverage);

template <typename T>
ordered_json ListOf(const std::vector<T>& items) {
  ordered_json list = ordered_json::array();
  for (const T& item : items) list.push_back(AsJson(item));
  return list;
}

ordered_json AsJson(const Coverage& coverage) {
  ordered_json json = {{"model", coverage.model},
                       {"rules", coverage.rules},
                       {"level", coverage.level},
                       {"ep", coverage.provider},
                       {"platform", coverage.platform},
                       {"int8", coverage.int8},
                       {"float", coverage.in_float},
                       {"int8_share", coverage.Int8Share()},
                       {"inserted", coverage.inserted},
                       {"ops", ListOf(coverage.ops)},
                       {"nodes", ListOf(coverage.fates.nodes)},
                       {"faults", ListOf(coverage.faults)}};
  json["conversions"] = ordered_json::array();
  for (const ConversionCount& count : coverage.conversions) {
    json["conversions"].push_back({{"op", count.op}, {"before", count.before}, {"after", count.after}});
  }
  return json;
}

}  // namespace

std::string ToJson(const std::vector<Coverage>& reports) {
  const ordered_json json = {{"reports", ListOf(reports)}};
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace rulerun
