#include "engine/report/coverage_findings.h"

#include <optional>
#include <string_view>
#include <utility>

namespace rulerun {
namespace {

// Effects of faults: wrong results, on every CPU or on some; nothing wrong, and nothing gained. Others stop the model.
constexpr std::string_view kNumbers = "wrong-numbers";
constexpr std::string_view kSaturates = "saturates";
constexpr std::string_view kMissed = "missed";

Finding OfFault(const FaultHit& hit, Code code, const std::string& model) {
  Finding finding;
  finding.code = code;
  finding.severity = finding.code == Code::kFaultyNumbers ? Severity::kWarning : Severity::kError;
  finding.kind = hit.id;
  finding.title = "Known fault " + hit.id + " of what '" + hit.rule + "' does: " + hit.effect + ", " + hit.note;
  finding.message =
      "'" + hit.node + "' (" + hit.op + "): " + hit.effect + ", " + hit.note + " (rule '" + hit.rule + "')";
  finding.remedy = Info(finding.code).remedy;
  finding.where = ParsePlace(hit.place);
  finding.rule = hit.rule;
  finding.model = model;
  finding.node = hit.node;
  finding.op = hit.op;
  finding.link = hit.link;
  return finding;
}

std::optional<Finding> OfNode(const NodeFate& fate, const std::string& model) {
  if (fate.fate != Fate::kFloat) return std::nullopt;
  const Reason& reason = fate.reason;
  const bool refused = reason.kind == Reason::Kind::kRefused;
  if (!refused && reason.kind != Reason::Kind::kUnsupported) return std::nullopt;
  Finding finding;
  finding.code = CodeOf(reason.kind);
  finding.severity = refused ? Severity::kWarning : Severity::kNote;
  finding.message = "'" + fate.node.name + "' (" + fate.node.op + ") stays float: " + reason.Text();
  finding.remedy = Info(finding.code).remedy;
  finding.where = ParsePlace(reason.place);
  finding.rule = reason.rule;
  finding.kind = refused ? reason.rule + "/" + reason.check : fate.node.op;
  finding.title = refused ? "Rule '" + reason.rule + "' refused: its condition '" + reason.check + "' does not hold"
                          : fate.node.op + " has no int8 form: " + reason.message;
  finding.model = model;
  finding.node = fate.node.name;
  finding.op = fate.node.op;
  return finding;
}

Finding OfFailure(const FailedModel& failed) {
  const Error& error = failed.error;
  Finding finding;
  finding.code = error.code;
  finding.severity = Severity::kError;
  finding.message = (error.place.empty() ? "" : error.place + ": ") + error.message;
  finding.remedy = error.remedy;
  finding.model = failed.model;
  return finding;
}

}  // namespace

std::optional<Code> CodeOf(const FaultHit& hit) {
  if (IsByDesign(hit) || hit.effect == kMissed) return std::nullopt;
  return hit.effect == kNumbers || hit.effect == kSaturates ? Code::kFaultyNumbers : Code::kFaultStops;
}

std::vector<Finding> FindingsOf(const CoverageRun& run) {
  std::vector<Finding> findings;
  const auto add = [&](const std::vector<FaultHit>& hits, const std::string& model) {
    for (const FaultHit& hit : hits) {
      if (const auto code = CodeOf(hit)) findings.push_back(OfFault(hit, *code, model));
    }
  };
  for (const FailedModel& failed : run.failed) {
    findings.push_back(OfFailure(failed));
    if (failed.refused) add(failed.refused->refusal.faults, failed.model);
  }
  for (const Coverage& report : run.reports) {
    add(report.faults, report.model);
    for (const NodeFate& fate : report.fates.nodes) {
      if (auto finding = OfNode(fate, report.model)) findings.push_back(std::move(*finding));
    }
  }
  return findings;
}

}  // namespace rulerun
