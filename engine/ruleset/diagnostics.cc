#include "engine/ruleset/diagnostics.h"

#include <algorithm>
#include <iterator>

namespace rulerun {
namespace {

bool SameError(const Error& a, const Error& b) { return a.place == b.place && a.message == b.message; }

}  // namespace

void Diagnostics::Add(Code code, const Location& where, std::string message, std::string remedy) {
  Add({code, std::move(message), where.ToString(), std::move(remedy)});
}

void Diagnostics::Add(Error error) {
  // What an alias repeats is wrong once.
  if (std::any_of(errors_.begin(), errors_.end(), [&](const Error& known) { return SameError(known, error); })) return;
  errors_.push_back(std::move(error));
}

Error Diagnostics::Take() {
  Error first = std::move(errors_.front());
  first.more.assign(std::make_move_iterator(errors_.begin() + 1), std::make_move_iterator(errors_.end()));
  errors_.clear();
  return first;
}

}  // namespace rulerun
