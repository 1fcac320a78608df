#include "engine/report/check/check_json.h"

#include <nlohmann/json.hpp>

namespace rulerun {
namespace {

using nlohmann::ordered_json;

ordered_json ToJson(const Finding& finding) {
  ordered_json json = {{"code", Name(finding.code)},        {"severity", Name(finding.severity)},
                       {"place", PlaceText(finding.where)}, {"rule", finding.rule},
                       {"message", finding.message},        {"remedy", finding.remedy}};
  if (!finding.other.empty()) json["other"] = finding.other;
  if (finding.other_where.file != nullptr) json["other_place"] = PlaceText(finding.other_where);
  if (!finding.witness.empty()) json["witness"] = finding.witness;
  return json;
}

std::string Dump(const ordered_json& json) {
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string ToJson(const RuleSet& rules, const std::vector<ListedRule>& list, const std::vector<Finding>& findings) {
  ordered_json json = {
      {"id", rules.id},           {"version", rules.version},       {"path", rules.path},
      {"extends", rules.extends}, {"rules", ordered_json::array()}, {"findings", ordered_json::array()}};
  for (const ListedRule& rule : list) {
    json["rules"].push_back({{"name", rule.name},
                             {"group", rule.group},
                             {"file", rule.file},
                             {"level", rule.level},
                             {"place", rule.place},
                             {"tests", rule.tests}});
  }
  for (const Finding& finding : findings) json["findings"].push_back(ToJson(finding));
  return Dump(json);
}

std::string ToJson(const std::string& path, const std::vector<Finding>& findings) {
  ordered_json json = {{"id", ""},
                       {"version", ""},
                       {"path", path},
                       {"extends", ordered_json::array()},
                       {"rules", ordered_json::array()},
                       {"findings", ordered_json::array()}};
  for (const Finding& finding : findings) json["findings"].push_back(ToJson(finding));
  return Dump(json);
}

}  // namespace rulerun
