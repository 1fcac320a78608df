#include "engine/report/coverage_findings.h"

#include <charconv>

#include "engine/base/text.h"

namespace rulerun {
namespace {

constexpr std::string_view kNumbers = "wrong-numbers";  // the one effect of a fault that does not stop the model

CoverageFinding OfFault(const FaultHit& hit, const std::string& model) {
  CoverageFinding finding;
  finding.gravity = hit.effect == kNumbers ? Gravity::kWarning : Gravity::kError;
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

std::optional<CoverageFinding> OfNode(const NodeFate& fate, const std::string& model) {
  if (fate.fate != Fate::kFloat) return std::nullopt;
  const Reason& reason = fate.reason;
  CoverageFinding finding;
  finding.model = model;
  finding.node = fate.node.name;
  finding.op = fate.node.op;
  finding.place = reason.place;
  finding.message = "'" + fate.node.name + "' (" + fate.node.op + ") stays float: " + reason.Text();
  if (reason.kind == Reason::Kind::kRefused) {
    finding.gravity = Gravity::kWarning;
    finding.id = "refused/" + reason.rule + "/" + reason.check;
    finding.title = "Rule '" + reason.rule + "' refused: its condition '" + reason.check + "' does not hold";
    return finding;
  }
  if (reason.kind != Reason::Kind::kUnsupported) return std::nullopt;
  finding.gravity = Gravity::kNote;
  finding.id = "unsupported/" + fate.node.op;
  finding.title = fate.node.op + " has no int8 form: " + reason.message;
  return finding;
}

CoverageFinding OfFailure(const FailedModel& failed) {
  CoverageFinding finding;
  finding.gravity = Gravity::kError;
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

std::string_view Name(Gravity gravity) {
  switch (gravity) {
    case Gravity::kNote:
      return "note";
    case Gravity::kWarning:
      return "warning";
    case Gravity::kError:
      return "error";
  }
  return "";
}

std::optional<Gravity> ParseGravity(std::string_view text) {
  for (const Gravity gravity : {Gravity::kNote, Gravity::kWarning, Gravity::kError}) {
    if (Name(gravity) == text) return gravity;
  }
  return std::nullopt;
}

std::vector<CoverageFinding> FindingsOf(const CoverageRun& run) {
  std::vector<CoverageFinding> findings;
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

std::string ToGitHub(const std::vector<CoverageFinding>& findings, const std::string& folder) {
  std::string text;
  for (const CoverageFinding& finding : findings) {
    const std::string_view command = finding.gravity == Gravity::kNote ? "notice" : Name(finding.gravity);
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
