#include "engine/report/findings.h"

#include <charconv>

#include "engine/base/text.h"

namespace rulerun {
namespace {

constexpr std::string_view kNumbers = "wrong-numbers";  // the one effect of a fault that does not stop the model

Finding OfFault(const FaultHit& hit, const std::string& model) {
  Finding finding;
  finding.severity = hit.effect == kNumbers ? Severity::kWarning : Severity::kError;
  finding.id = "fault/" + hit.id;
  finding.title = "Known fault " + hit.id + " of what rule '" + hit.rule + "' does: " + hit.effect + ", " + hit.note;
  finding.message =
      "'" + hit.node + "' (" + hit.op + "): " + hit.effect + ", " + hit.note + " (rule '" + hit.rule + "')";
  finding.model = model;
  finding.node = hit.node;
  finding.op = hit.op;
  finding.place = hit.place;
  finding.link = hit.link;
  return finding;
}

std::optional<Finding> OfNode(const NodeFate& fate, const std::string& model) {
  if (fate.fate != Fate::kFloat) return std::nullopt;
  const Reason& reason = fate.reason;
  Finding finding;
  finding.model = model;
  finding.node = fate.node.name;
  finding.op = fate.node.op;
  finding.place = reason.place;
  finding.message = "'" + fate.node.name + "' (" + fate.node.op + ") stays float: " + reason.Text();
  if (reason.kind == Reason::Kind::kRefused) {
    finding.severity = Severity::kWarning;
    finding.id = "refused/" + reason.rule + "/" + reason.check;
    finding.title = "Rule '" + reason.rule + "' refused: its condition '" + reason.check + "' does not hold";
    return finding;
  }
  if (reason.kind != Reason::Kind::kUnsupported) return std::nullopt;
  finding.severity = Severity::kNote;
  finding.id = "unsupported/" + fate.node.op;
  finding.title = fate.node.op + " has no int8 form: " + reason.message;
  return finding;
}

Finding OfFailure(const FailedModel& failed) {
  Finding finding;
  finding.severity = Severity::kError;
  finding.id = "model";
  finding.title = "The model cannot be read, or ONNX Runtime refuses it";
  const Error& error = failed.error;
  finding.message = (error.place.empty() ? "" : error.place + ": ") + error.message;
  finding.model = failed.model;
  return finding;
}

std::optional<int> NumberBehind(std::string& text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos) return std::nullopt;
  int number = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data() + colon + 1, end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  text.resize(colon);
  return number;
}

// Workflow commands end a line, and properties also end at "," and ":".
std::string Escaped(std::string_view text, bool property) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '%':
        escaped += "%25";
        break;
      case '\r':
        escaped += "%0D";
        break;
      case '\n':
        escaped += "%0A";
        break;
      case ',':
        escaped += property ? "%2C" : ",";
        break;
      case ':':
        escaped += property ? "%3A" : ":";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

}  // namespace

std::string_view Name(Severity severity) {
  switch (severity) {
    case Severity::kNote:
      return "note";
    case Severity::kWarning:
      return "warning";
    case Severity::kError:
      return "error";
  }
  return "";
}

std::optional<Severity> ParseSeverity(std::string_view text) {
  for (const Severity severity : {Severity::kNote, Severity::kWarning, Severity::kError}) {
    if (Name(severity) == text) return severity;
  }
  return std::nullopt;
}

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

FilePlace ParsePlace(const std::string& place, const std::string& folder) {
  FilePlace parsed;
  parsed.path = place;
  const auto last = NumberBehind(parsed.path);
  const auto first = last ? NumberBehind(parsed.path) : std::nullopt;
  parsed.line = first.value_or(last.value_or(0));
  parsed.column = first ? *last : 0;
  const std::string below = folder + "/";
  if (!folder.empty() && StartsWith(parsed.path, below)) parsed.path.erase(0, below.size());
  if (StartsWith(parsed.path, "./")) parsed.path.erase(0, 2);
  return parsed;
}

std::string ToGitHub(const std::vector<Finding>& findings, const std::string& folder) {
  std::string text;
  for (const Finding& finding : findings) {
    const std::string_view command = finding.severity == Severity::kNote ? "notice" : Name(finding.severity);
    const FilePlace place = ParsePlace(finding.place.empty() ? finding.model : finding.place, folder);
    text += "::" + std::string(command) + " file=" + Escaped(place.path, true);
    if (place.line > 0) text += ",line=" + std::to_string(place.line);
    if (place.column > 0) text += ",col=" + std::to_string(place.column);
    text +=
        ",title=" + Escaped(finding.id, true) + "::" + Escaped(finding.model + ": " + finding.message, false) + "\n";
  }
  return text;
}

}  // namespace rulerun
