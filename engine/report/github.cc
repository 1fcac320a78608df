// Findings as workflow commands of GitHub Actions.
#include "engine/report/finding.h"

namespace rulerun {
namespace {

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

std::string ToGitHub(const std::vector<Finding>& findings, const std::string& folder) {
  std::string text;
  for (const Finding& finding : findings) {
    const std::string_view command = finding.severity == Severity::kNote ? "notice" : Name(finding.severity);
    const Location place = PlaceOf(finding);
    text += "::" + std::string(command) + " file=" + Escaped(RelativePath(*place.file, folder), true);
    if (place.line > 0) text += ",line=" + std::to_string(place.line);
    if (place.column > 0) text += ",col=" + std::to_string(place.column);
    const std::string subject = finding.model.empty() ? "" : finding.model + ": ";
    text += ",title=" + Escaped(Id(finding), true) + "::" + Escaped(subject + finding.message, false) + "\n";
  }
  return text;
}

}  // namespace rulerun
