// Small text helpers that every layer needs.
#ifndef RULERUN_ENGINE_BASE_TEXT_H_
#define RULERUN_ENGINE_BASE_TEXT_H_

#include <string>
#include <string_view>
#include <vector>

namespace rulerun {

// The candidate nearest to `word` by edit distance, or "" if none is near enough to be a likely misspelling
// (at most a third of the word's length, at least 1 and at most 3 edits; case does not count as an edit).
std::string Nearest(std::string_view word, const std::vector<std::string>& candidates);

// ", did you mean 'x'?" for the nearest candidate, or "".
std::string DidYouMean(std::string_view word, const std::vector<std::string>& candidates);

std::vector<std::string> Split(std::string_view text, char separator);
std::string Join(const std::vector<std::string>& parts, std::string_view separator);
bool StartsWith(std::string_view text, std::string_view prefix);
bool EndsWith(std::string_view text, std::string_view suffix);

// The shortest decimal text that reads back as the same float or double.
std::string FormatFloat(float value);
std::string FormatDouble(double value);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_BASE_TEXT_H_
