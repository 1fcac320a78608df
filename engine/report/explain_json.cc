// Explanations as JSON.
#include <nlohmann/json.hpp>

#include "engine/base/codes.h"
#include "engine/report/explain.h"
#include "engine/report/refusal_json.h"

namespace rulerun {
namespace {

using nlohmann::ordered_json;

void Add(ordered_json& json, const char* key, const std::string& value) {
  if (!value.empty()) json[key] = value;
}

ordered_json AsJson(const Refusal& refusal) {
  ordered_json json = {{"check", refusal.check}, {"message", refusal.message}};
  Add(json, "wanted", refusal.wanted);
  Add(json, "actual", refusal.actual);
  Add(json, "advice", AdviceFor(refusal));
  Add(json, "place", refusal.where.ToString());
  return json;
}

ordered_json AsJson(const WhatIf& what_if) {
  ordered_json json = {{"kind", Name(what_if.kind)}, {"conditions", ordered_json::array()}};
  for (const Refusal& refusal : what_if.conditions) json["conditions"].push_back(AsJson(refusal));
  Add(json, "into", what_if.into);
  Add(json, "error", what_if.error);
  return json;
}

ordered_json AsJson(const Fault& fault) {
  ordered_json json = {{"id", fault.id}, {"effect", fault.effect}, {"note", fault.note}};
  Add(json, "link", fault.link);
  json["place"] = fault.where.ToString();
  return json;
}

ordered_json AsJson(const TraceEntry& entry) {
  ordered_json json = ordered_json::object();
  if (entry.rule.empty()) {
    json["pass"] = entry.stage;
  } else {
    json["rule"] = entry.rule;
    json["group"] = Name(entry.group);
  }
  Add(json, "place", entry.where.ToString());
  Add(json, "what", entry.what);
  return json;
}

ordered_json AsJson(const ExplainStep& step) {
  const TraceEntry& entry = *step.entry;
  ordered_json json = AsJson(entry);
  Add(json, "level", step.level);
  if (step.times > 1) json["times"] = step.times;
  if (entry.verdict == TraceEntry::Verdict::kFired) {
    json["created"] = entry.created;
    json["removed"] = entry.removed;
    json["nodes"] = entry.sources;
  } else if (!entry.rule.empty() || entry.verdict == TraceEntry::Verdict::kError) {
    json["refusal"] = AsJson(entry.refusal);
  }
  if (!entry.faults.empty()) json["faults"] = ordered_json::array();
  for (const Fault& fault : entry.faults) json["faults"].push_back(AsJson(fault));
  if (step.what_if) json["what_if"] = AsJson(*step.what_if);
  return json;
}

ordered_json AsJson(const std::vector<ExplainStep>& steps) {
  ordered_json list = ordered_json::array();
  for (const ExplainStep& step : steps) list.push_back(AsJson(step));
  return list;
}

ordered_json AsJson(const Explanation& explanation) {
  const NodeFate& fate = *explanation.fate;
  ordered_json json = {
      {"name", fate.node.name}, {"op", fate.node.op}, {"fate", Name(fate.fate)}, {"status", StatusName(fate)}};
  Add(json, "inside", fate.node.inside);
  Add(json, "into", fate.into);
  Add(json, "now", fate.now);
  Add(json, "rule", fate.rule);
  Add(json, "place", fate.place);
  if (fate.fate == Fate::kFloat || fate.fate == Fate::kFused) {
    json["reason"] = {
        {"code", Name(CodeOf(fate.reason.kind))}, {"kind", Name(fate.reason.kind)}, {"message", fate.reason.Text()}};
    Add(json["reason"], "place", fate.reason.place);
  }
  Add(json, "advice", explanation.advice);
  if (explanation.outcomes != nullptr) json["everywhere"] = ToOrderedJson(*explanation.outcomes, /*of_node=*/true);
  json["fired"] = AsJson(explanation.fired);
  json["refused"] = AsJson(explanation.refused);
  if (!explanation.faults_beside.empty()) json["faults_beside"] = ordered_json::array();
  for (const FaultHit& hit : explanation.faults_beside) json["faults_beside"].push_back(ToOrderedJson(hit));
  if (!explanation.refused_beside.empty()) json["refused_beside"] = AsJson(explanation.refused_beside);
  return json;
}

ordered_json AsJson(const MadeNode& made) {
  ordered_json json = {{"name", made.name}, {"made_by", AsJson(*made.made_by)}, {"from", made.made_by->sources}};
  Add(json, "op", made.op);
  if (made.removed_by != nullptr) json["removed_by"] = AsJson(*made.removed_by);
  return json;
}

}  // namespace

std::string ToJson(const Coverage& coverage, const Explained& explained, const RefusedModel* refused) {
  ordered_json json = {{"model", coverage.model},       {"rules", coverage.rules},
                       {"level", coverage.level},       {"ep", coverage.provider},
                       {"platform", coverage.platform}, {"made", ordered_json::array()},
                       {"nodes", ordered_json::array()}};
  if (refused != nullptr) json["refusal"] = ToOrderedJson(*refused);
  for (const MadeNode& made : explained.made) json["made"].push_back(AsJson(made));
  for (const Explanation& explanation : explained.nodes) json["nodes"].push_back(AsJson(explanation));
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace rulerun
