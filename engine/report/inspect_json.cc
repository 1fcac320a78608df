// The inspection report as schemas/inspect.schema.json describes it.
#include <nlohmann/json.hpp>

#include "engine/base/codes.h"
#include "engine/report/inspect.h"

namespace rulerun {
namespace {

using nlohmann::ordered_json;

ordered_json AsJson(const OpCounts& row) {
  ordered_json json = {{"op", row.op}, {"original", row.original}};
  for (size_t i = 0; i < kLevels.size(); ++i) json[std::string(Name(kLevels[i]))] = row.at[i];
  return json;
}

ordered_json AsJson(const Outcome& outcome) {
  ordered_json json = {{"op", outcome.op}, {"group", outcome.group}, {"count", outcome.count}};
  for (size_t i = 0; i < kLevels.size(); ++i) json[std::string(Name(kLevels[i]))] = outcome.at[i];
  return json;
}

ordered_json AsJson(const LayoutChange& change) {
  ordered_json json = {{"op", change.op}, {"rule", change.rule}};
  if (change.inserted != 0) {
    json["inserted"] = change.inserted;
  } else {
    json["node"] = change.node;
    json["extended"] = change.extended;
    json["layout"] = change.layout;
  }
  return json;
}

ordered_json AsJson(const Inspection& inspection) {
  ordered_json json = {{"model", inspection.model},
                       {"rules", inspection.rules},
                       {"ep", inspection.provider},
                       {"platform", inspection.platform},
                       {"layout_is_extended", inspection.layout_is_extended},
                       {"all_is_layout", inspection.all_is_layout}};
  for (const char* list : {"ops", "outcomes", "layout_changes", "constants", "inputs", "outputs"})
    json[list] = ordered_json::array();
  for (const OpCounts& row : inspection.ops) json["ops"].push_back(AsJson(row));
  for (const Outcome& outcome : inspection.outcomes) json["outcomes"].push_back(AsJson(outcome));
  for (const LayoutChange& change : inspection.layout_changes) json["layout_changes"].push_back(AsJson(change));
  for (const ConstantGroup& group : inspection.constants) {
    json["constants"].push_back(
        {{"role", group.role}, {"types", group.types}, {"count", group.count}, {"shapes", group.shapes}});
  }
  for (const BoundaryValue& value : inspection.boundary) {
    json[value.is_input ? "inputs" : "outputs"].push_back(
        {{"name", value.name}, {"type", value.type}, {"shape", value.shape}, {"dynamic", value.dynamic}});
  }
  json["refused"] = ordered_json::object();
  for (size_t i = 0; i < kLevels.size(); ++i) {
    const std::optional<Error>& refused = inspection.refused[i];
    if (!refused) continue;
    json["refused"][std::string(Name(kLevels[i]))] = {{"code", Name(refused->code)}, {"message", ToString(*refused)}};
  }
  json["bytes"] = {{"total", inspection.sizes.total},
                   {"initializers", inspection.sizes.initializers},
                   {"nodes", inspection.sizes.nodes},
                   {"node_metadata", inspection.sizes.metadata}};
  return json;
}

}  // namespace

std::string ToJson(const std::vector<Inspection>& inspections) {
  ordered_json json = {{"models", ordered_json::array()}};
  for (const Inspection& inspection : inspections) json["models"].push_back(AsJson(inspection));
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace rulerun
