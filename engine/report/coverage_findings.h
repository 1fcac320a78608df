// What a coverage run found, one by one, in the forms that other tools read: SARIF, annotations of GitHub.
#ifndef RULERUN_ENGINE_REPORT_COVERAGE_FINDINGS_H_
#define RULERUN_ENGINE_REPORT_COVERAGE_FINDINGS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/report/totals.h"

namespace rulerun {

enum class Gravity {
  kNote,     // an operator that the rule set lists as unsupported
  kWarning,  // a rule refused; a known fault that makes numbers wrong
  kError,    // a known fault that stops the model; a model that cannot be reported on
};
std::string_view Name(Gravity gravity);  // "note", "warning", "error", as in SARIF
std::optional<Gravity> ParseGravity(std::string_view text);

struct CoverageFinding {
  Gravity gravity = Gravity::kNote;
  std::string id;       // "refused/Conv/close", "unsupported/Elu", "fault/C72", "model"
  std::string title;    // the same for every finding of this id, in a sentence
  std::string message;  // a sentence about this one
  std::string model;    // path
  std::string node;     // original name, "" for a whole model
  std::string op;
  std::string place;  // file:line:column in a rule file, or ""
  std::string link;   // where a fault was reported, or ""
};

// By model, faults first, then nodes in the order of the model.
std::vector<CoverageFinding> FindingsOf(const CoverageRun& run);

// A file in a place, and a URI for it: relative to `folder` where it lies below, else absolute.
struct FilePlace {
  std::string path;
  int line = 0;  // 0: none
  int column = 0;
};
FilePlace ParsePlace(const std::string& place, const std::string& folder);

// SARIF 2.1.0. Paths below `folder` are written relative to it.
std::string ToSarif(const std::vector<CoverageFinding>& findings, const std::string& version,
                    const std::string& folder);

// Lines that GitHub Actions shows beside the code: "::warning file=rules/x.yaml,line=3,...::message".
std::string ToGitHub(const std::vector<CoverageFinding>& findings, const std::string& folder);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_REPORT_COVERAGE_FINDINGS_H_
