#include "engine/report/coverage_findings.h"

#include <optional>
#include <string_view>
#include <utility>

namespace rulerun {
namespace {

constexpr std::string_view kNumbers = "wrong-numbers";  // the one effect of a fault that does not stop the model

Finding OfFault(const FaultHit& hit, const std::string& model) {
  Finding finding;
  finding.code = CodeOf(hit);
  finding.severity = finding.code == Code::kFaultyNumbers ? Severity::kWarning : Severity::kError;
  finding.kind = hit.id;
  finding.title = "Known fault " + hit.id + " of what rule '" + hit.rule + "' does: " + hit.effect + ", " + hit.note;
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

Code CodeOf(const FaultHit& hit) { return hit.effect == kNumbers ? Code::kFaultyNumbers : Code::kFaultStops; }

std::vector<Finding> FindingsOf(const CoverageRun& run) {
  std::vector<Finding> findings;
  for (const FailedModel& failed : run.failed) findings.push_back(OfFailure(failed));
  for (const Coverage& report : run.reports) {
    for (const FaultHit& hit : report.faults) findings.push_back(OfFault(hit, report.model));
    for (const NodeFate& fate : report.fates.nodes) {
      if (auto finding = OfNode(fate, report.model)) findings.push_back(std::move(*finding));
    }
  }
  return findings;
}

}  // namespace rulerun
