// What reports find: something that somebody may have to act on, about a rule set (`check`) or a model (`coverage`).
#ifndef RULERUN_ENGINE_REPORT_FINDING_H_
#define RULERUN_ENGINE_REPORT_FINDING_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/codes.h"
#include "engine/base/result.h"
#include "engine/ruleset/location.h"

namespace rulerun {

enum class Severity {
  kNote,     // worth knowing: two rules overlap and the first wins; an operator that has no int8 form
  kWarning,  // most likely not what was meant: a rule that is never applied or refused, numbers that are wrong
  kError,    // nothing works with it: a file that cannot be used, a fault that stops the model
};
std::string_view Name(Severity severity);  // "note", "warning", "error", as in SARIF
std::optional<Severity> ParseSeverity(std::string_view text);

struct Finding {
  Code code{};
  Severity severity = Severity::kWarning;
  std::string message;  // one sentence
  std::string remedy;   // one sentence, or ""
  Location where;       // in a rule file, or nowhere
  std::string rule;     // "" where it is about none

  // Within one code, what others may share: "Conv/close". Such findings have a title of their own.
  std::string kind;
  std::string title;

  // About a rule set.
  std::string other;     // the other rule, where there is one
  Location other_where;  // of that rule, or of the other side of a contradiction
  std::string witness;   // ONNX text of a graph on which it was seen

  // About a model.
  std::string model;  // path
  std::string node;   // original name, "" for a whole model
  std::string op;
  std::string link;  // where a fault was reported, or ""
};

// The code and the kind: "N0101/Conv/close", "R0407".
std::string Id(const Finding& finding);

// The file to look at, and where in it: of the rule file, else of the model.
Location PlaceOf(const Finding& finding);

// An error and those that came with it, as findings of their own: what `check` says of a rule set that cannot be read.
std::vector<Finding> FindingsOf(const Error& error);

// "file:line:column", "file:line", "file" or "", there and back.
Location ParsePlace(const std::string& place);
std::string PlaceText(const Location& place);

// `path` as seen from `folder` where it lies below, else as it is.
std::string RelativePath(const std::string& path, const std::string& folder);

// How many are as grave or graver.
size_t CountFrom(const std::vector<Finding>& findings, Severity least);

// SARIF 2.1.0. Paths below `folder` are written relative to it. `version`: of rulerun.
std::string ToSarif(const std::vector<Finding>& findings, const std::string& version, const std::string& folder);

// Lines that GitHub Actions shows beside the code: "::warning file=rules/x.yaml,line=3,...::message".
std::string ToGitHub(const std::vector<Finding>& findings, const std::string& folder);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_REPORT_FINDING_H_
