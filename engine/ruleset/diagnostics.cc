#include "engine/ruleset/diagnostics.h"

#include <algorithm>

namespace rulerun {
namespace {

constexpr size_t kMaxTold = 20;

bool SameError(const Error& a, const Error& b) { return a.place == b.place && a.message == b.message; }

}  // namespace

void Diagnostics::Add(const Location& where, std::string message, std::string remedy) {
  Add({ErrorKind::kRules, std::move(message), where.ToString(), std::move(remedy)});
}

void Diagnostics::Add(Error error) {
  // What an alias repeats is wrong once.
  if (std::any_of(errors_.begin(), errors_.end(), [&](const Error& known) { return SameError(known, error); })) return;
  errors_.push_back(std::move(error));
}

Error Diagnostics::Take() {
  if (errors_.size() == 1) return std::move(errors_.front());
  Error all;
  all.kind = ErrorKind::kRules;
  for (size_t i = 0; i < std::min(errors_.size(), kMaxTold); ++i) {
    if (i > 0) all.message += "\n";
    all.message += ToString(errors_[i]);
  }
  if (errors_.size() > kMaxTold) all.message += "\nand " + std::to_string(errors_.size() - kMaxTold) + " more errors";
  return all;
}

}  // namespace rulerun
