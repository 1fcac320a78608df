// Findings as SARIF 2.1.0 (OASIS Standard, 27 March 2020).
#include <map>
#include <nlohmann/json.hpp>

#include "engine/base/text.h"
#include "engine/report/finding.h"

namespace rulerun {
namespace {

using nlohmann::ordered_json;

constexpr char kSchema[] = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
constexpr char kRoot[] = "SRCROOT";  // what relative paths are relative to

// RFC 3986: what is no unreserved character or slash is written as %XX.
std::string Uri(const std::string& path) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string uri = StartsWith(path, "/") ? "file://" : "";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (plain || std::string_view("-._~/").find(c) != std::string_view::npos) {
      uri += c;
    } else {
      uri += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return uri;
}

ordered_json Artifact(const std::string& path) {
  ordered_json json = {{"uri", Uri(path)}};
  if (!StartsWith(path, "/")) json["uriBaseId"] = kRoot;
  return json;
}

ordered_json PhysicalLocation(const Location& place, const std::string& folder) {
  ordered_json json = {{"artifactLocation", Artifact(RelativePath(*place.file, folder))}};
  if (place.line > 0) json["region"] = {{"startLine", place.line}};
  if (place.column > 0) json["region"]["startColumn"] = place.column;
  return json;
}

// The rule file is where a reviewer looks; the model's node is a logical location in it.
ordered_json LocationOf(const Finding& finding, const std::string& folder) {
  ordered_json json = {{"physicalLocation", PhysicalLocation(PlaceOf(finding), folder)}};
  if (finding.node.empty()) return json;
  json["logicalLocations"] = {
      {{"name", finding.node}, {"fullyQualifiedName", finding.model + "/" + finding.node}, {"kind", "element"}}};
  return json;
}

// What stays the same when lines move.
ordered_json FingerprintOf(const Finding& finding, const std::string& folder) {
  if (finding.model.empty()) {
    return {{"rule/v1", RelativePath(*PlaceOf(finding).file, folder) + "#" + finding.rule + "#" + finding.other + "#" +
                            Id(finding)}};
  }
  return {{"node/v1", RelativePath(finding.model, folder) + "#" + finding.node + "#" + Id(finding)}};
}

ordered_json ResultOf(const Finding& finding, size_t rule, const std::string& folder) {
  ordered_json json = {{"ruleId", Id(finding)},
                       {"ruleIndex", rule},
                       {"level", Name(finding.severity)},
                       {"message", {{"text", finding.message}}}};
  if (!finding.model.empty()) json["analysisTarget"] = Artifact(RelativePath(finding.model, folder));
  json["locations"] = ordered_json::array({LocationOf(finding, folder)});
  if (finding.other_where.file != nullptr) {
    ordered_json other = {{"physicalLocation", PhysicalLocation(finding.other_where, folder)}};
    other["message"] = {{"text", finding.other.empty() ? "the other side" : "the rule '" + finding.other + "'"}};
    json["relatedLocations"] = ordered_json::array({other});
  }
  json["partialFingerprints"] = FingerprintOf(finding, folder);
  json["properties"] = {{"code", Name(finding.code)}};
  if (!finding.rule.empty()) json["properties"]["rule"] = finding.rule;
  if (!finding.op.empty()) json["properties"]["operator"] = finding.op;
  if (!finding.remedy.empty()) json["properties"]["remedy"] = finding.remedy;
  if (!finding.witness.empty()) json["properties"]["witness"] = finding.witness;
  return json;
}

ordered_json RuleOf(const Finding& finding) {
  const CodeInfo& info = Info(finding.code);
  ordered_json json = {{"id", Id(finding)},
                       {"shortDescription", {{"text", finding.title.empty() ? info.meaning : finding.title}}},
                       {"fullDescription", {{"text", info.meaning}}},
                       {"help", {{"text", info.remedy}}},
                       {"defaultConfiguration", {{"level", Name(finding.severity)}}},
                       {"properties", {{"code", info.name}}}};
  if (!finding.link.empty()) json["helpUri"] = finding.link;
  return json;
}

}  // namespace

std::string ToSarif(const std::vector<Finding>& findings, const std::string& version, const std::string& folder) {
  std::map<std::string, size_t> index;
  ordered_json rules = ordered_json::array();
  ordered_json results = ordered_json::array();
  for (const Finding& finding : findings) {
    const auto [rule, fresh] = index.emplace(Id(finding), rules.size());
    if (fresh) rules.push_back(RuleOf(finding));
    results.push_back(ResultOf(finding, rule->second, folder));
  }
  const ordered_json driver = {{"name", "rulerun"}, {"version", version}, {"rules", rules}};
  const ordered_json base = {{kRoot, {{"uri", Uri(folder + "/")}}}};
  const ordered_json run = {{"tool", {{"driver", driver}}},
                            {"originalUriBaseIds", base},
                            {"columnKind", "unicodeCodePoints"},
                            {"results", results}};
  const ordered_json log = {{"$schema", kSchema}, {"version", "2.1.0"}, {"runs", ordered_json::array({run})}};
  return log.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace rulerun
