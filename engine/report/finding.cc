#include "engine/report/finding.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <utility>

#include "engine/base/text.h"

namespace rulerun {
namespace {

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

std::string Id(const Finding& finding) {
  const std::string code(Name(finding.code));
  return finding.kind.empty() ? code : code + "/" + finding.kind;
}

Location PlaceOf(const Finding& finding) {
  if (finding.where.file != nullptr) return finding.where;
  return {std::make_shared<const std::string>(finding.model), 0, 0};
}

std::vector<Finding> FindingsOf(const Error& error) {
  Finding finding;
  finding.code = error.code;
  finding.severity = Severity::kError;
  finding.message = error.message;
  finding.remedy = error.remedy;
  finding.where = ParsePlace(error.place);
  std::vector<Finding> findings = {std::move(finding)};
  for (const Error& other : error.more) {
    for (Finding& one : FindingsOf(other)) findings.push_back(std::move(one));
  }
  return findings;
}

Location ParsePlace(const std::string& place) {
  if (place.empty()) return {};
  std::string path = place;
  const auto last = NumberBehind(path);
  const auto first = last ? NumberBehind(path) : std::nullopt;
  const int line = first.value_or(last.value_or(0));
  return {std::make_shared<const std::string>(std::move(path)), line, first ? *last : 0};
}

std::string PlaceText(const Location& place) {
  if (place.file == nullptr) return "";
  std::string text = *place.file;
  if (place.line > 0) text += ":" + std::to_string(place.line);
  if (place.column > 0) text += ":" + std::to_string(place.column);
  return text;
}

std::string RelativePath(const std::string& path, const std::string& folder) {
  const std::string below = folder + "/";
  const bool inside = !folder.empty() && StartsWith(path, below);
  const std::string relative = inside ? path.substr(below.size()) : path;
  return StartsWith(relative, "./") ? relative.substr(2) : relative;
}

size_t CountFrom(const std::vector<Finding>& findings, Severity least) {
  return static_cast<size_t>(std::count_if(findings.begin(), findings.end(),
                                           [&](const Finding& finding) { return finding.severity >= least; }));
}

}  // namespace rulerun
