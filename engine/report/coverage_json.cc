// The coverage report as JSON.
#include <nlohmann/json.hpp>

#include "engine/base/codes.h"
#include "engine/report/refusal_json.h"
#include "engine/report/totals.h"

namespace rulerun {
namespace {

using nlohmann::ordered_json;

ordered_json AsJson(const Conversions& conversions) {
  return {{"count", conversions.count}, {"bytes", conversions.bytes}, {"unknown", conversions.unknown}};
}

ordered_json AsJson(const BoundaryCost& cost) {
  return {{"activations", AsJson(cost.activations)}, {"constants", AsJson(cost.constants)}};
}

ordered_json AsJson(const Share& share) {
  return {{"int8", share.int8}, {"float", share.in_float}, {"unknown", share.unknown}, {"share", share.Value()}};
}

ordered_json AsJson(const Reason& reason) {
  ordered_json json = {{"code", Name(CodeOf(reason.kind))}, {"kind", Name(reason.kind)}, {"message", reason.message}};
  if (!reason.rule.empty()) json["rule"] = reason.rule;
  if (!reason.check.empty()) json["check"] = reason.check;
  if (!reason.place.empty()) json["place"] = reason.place;
  return json;
}

ordered_json AsJson(const NodeFate& fate) {
  ordered_json json = {
      {"name", fate.node.name}, {"op", fate.node.op}, {"fate", Name(fate.fate)}, {"status", StatusName(fate)}};
  const auto add = [&](const char* key, const std::string& value) {
    if (!value.empty()) json[key] = value;
  };
  add("inside", fate.node.inside);
  if (fate.node.macs && *fate.node.macs > 0) json["macs"] = *fate.node.macs;
  add("into", fate.into);
  add("now", fate.now);
  add("rule", fate.rule);
  add("place", fate.place);
  if (fate.around.count > 0) json["conversions"] = AsJson(fate.around);
  if (fate.fate == Fate::kFloat || fate.fate == Fate::kFused) json["reason"] = AsJson(fate.reason);
  return json;
}

ordered_json AsJson(const OpCoverage& row) {
  return {{"op", row.op},
          {"group", row.group},
          {"count", row.count},
          {"int8", row.int8},
          {"moved", row.moved},
          {"float", row.in_float},
          {"gone", row.gone},
          {"other", row.other},
          {"into", row.into},
          {"float_into", row.float_into},
          {"reasons", row.reasons},
          {"removed_by", row.removers},
          {"mismatches", row.mismatches}};
}

ordered_json AsJson(const FaultHit& hit) { return ToOrderedJson(hit); }

ordered_json AsJson(const ConditionUse& condition) {
  return {
      {"text", condition.text}, {"place", condition.place}, {"held", condition.held}, {"refused", condition.refused}};
}

ordered_json AsJson(const ConversionCount& count) {
  return {{"op", count.op}, {"before", count.before}, {"after", count.after}};
}

ordered_json AsJson(const RuleTotal& total) {
  return {{"rule", total.rule},   {"stage", total.stage},     {"group", total.group},  {"place", total.place},
          {"fired", total.fired}, {"refused", total.refused}, {"models", total.models}};
}

ordered_json AsJson(const FailedModel& failed) {
  ordered_json json = {{"model", failed.model}, {"code", Name(failed.error.code)}, {"message", failed.error.message}};
  if (!failed.error.place.empty()) json["place"] = failed.error.place;
  if (!failed.error.remedy.empty()) json["remedy"] = failed.error.remedy;
  if (failed.refused) json["refusal"] = ToOrderedJson(*failed.refused);
  return json;
}

template <typename T>
ordered_json ListOf(const std::vector<T>& items);

ordered_json AsJson(const RuleUse& use) {
  return {{"rule", use.rule},         {"stage", use.stage},
          {"group", use.group},       {"place", use.place},
          {"fired", use.fired},       {"refused", use.refused},
          {"fired_at", use.fired_at}, {"refused_at", use.refused_at},
          {"checks", use.checks},     {"conditions", ListOf(use.conditions)}};
}

ordered_json AsJson(const Coverage& coverage) {
  return {{"model", coverage.model},
          {"rules", coverage.rules},
          {"level", coverage.level},
          {"ep", coverage.provider},
          {"platform", coverage.platform},
          {"nodes_share", AsJson(coverage.nodes)},
          {"macs_share", AsJson(coverage.macs)},
          {"conversions", ListOf(coverage.conversions)},
          {"boundary", AsJson(coverage.boundary)},
          {"inserted", coverage.inserted},
          {"ops", ListOf(coverage.ops)},
          {"nodes", ListOf(coverage.fates.nodes)},
          {"by_rule", ListOf(coverage.rule_use)},
          {"faults", ListOf(coverage.faults)},
          {"by_design", ListOf(coverage.by_design)}};
}

template <typename T>
ordered_json ListOf(const std::vector<T>& items) {
  ordered_json list = ordered_json::array();
  for (const T& item : items) list.push_back(AsJson(item));
  return list;
}

}  // namespace

std::string ToJson(const CoverageRun& run, int indent) {
  const ordered_json json = {{"reports", ListOf(run.reports)},
                             {"failed", ListOf(run.failed)},
                             {"total",
                              {{"models", run.reports.size()},
                               {"nodes_share", AsJson(run.nodes)},
                               {"macs_share", AsJson(run.macs)},
                               {"boundary", AsJson(run.boundary)},
                               {"ops", ListOf(run.ops)},
                               {"rules", ListOf(run.rules)}}}};
  return json.dump(indent, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace rulerun
