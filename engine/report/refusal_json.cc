#include "engine/report/refusal_json.h"

#include "engine/base/codes.h"
#include "engine/report/coverage_findings.h"

namespace rulerun {
namespace {

using nlohmann::ordered_json;

void Add(ordered_json& json, const char* key, const std::string& value) {
  if (!value.empty()) json[key] = value;
}

ordered_json AsJson(const LevelRun& run, bool of_node) {
  const NodeOutcome& outcome = run.outcome;
  ordered_json json = ordered_json::object();
  Add(json, "refused", outcome.refused);
  if (outcome.refused.empty() && of_node) json["fate"] = Name(outcome.fate);
  Add(json, "into", outcome.into);
  Add(json, "rule", outcome.rule);
  Add(json, "place", outcome.place);
  json["levels"] = ordered_json::array();
  for (const Level level : run.levels) json["levels"].push_back(Name(level));
  return json;
}

}  // namespace

ordered_json ToOrderedJson(const FaultHit& hit) {
  ordered_json json = ordered_json::object();
  if (const auto code = CodeOf(hit)) json["code"] = Name(*code);
  json.update({{"node", hit.node},
               {"op", hit.op},
               {"rule", hit.rule},
               {"id", hit.id},
               {"effect", hit.effect},
               {"note", hit.note},
               {"place", hit.place}});
  Add(json, "link", hit.link);
  if (!hit.beside.empty()) json["beside"] = hit.beside;
  return json;
}

ordered_json ToOrderedJson(const RefusedModel& refused) {
  const ModelRefusal& refusal = refused.refusal;
  ordered_json json = {{"level", refused.level}, {"platform", refused.platform}, {"message", refusal.message}};
  Add(json, refusal.by_pass ? "pass" : "rule", refusal.by);
  Add(json, "place", refusal.place);
  Add(json, "node", refusal.node);
  Add(json, "op", refusal.op);
  json["faults"] = ordered_json::array();
  for (const FaultHit& hit : refusal.faults) json["faults"].push_back(ToOrderedJson(hit));
  json["loads"] = ToOrderedJson(refused.loads, /*of_node=*/false);
  return json;
}

ordered_json ToOrderedJson(const std::vector<PlatformRuns>& outcomes, bool of_node) {
  ordered_json list = ordered_json::array();
  for (const PlatformRuns& runs : outcomes) {
    ordered_json levels = ordered_json::array();
    for (const LevelRun& run : runs.levels) levels.push_back(AsJson(run, of_node));
    list.push_back({{"platforms", runs.platforms}, {"outcomes", std::move(levels)}});
  }
  return list;
}

}  // namespace rulerun
