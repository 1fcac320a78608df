#include "engine/report/user_names.h"

#include <set>
#include <string>
#include <unordered_map>

namespace rulerun {
namespace {

struct Maker {
  std::string source;  // the value it stems from
  std::string by;      // rule or pass
};

class Renamer {
 public:
  explicit Renamer(const Trace& trace) {
    for (const TraceEntry& entry : trace) {
      for (const auto& [made, source] : entry.made_from) {
        makers_.try_emplace(made, Maker{source, entry.rule.empty() ? entry.stage : entry.rule});
      }
    }
  }

  bool empty() const { return makers_.empty(); }

  void Rename(Refusal& refusal) const {
    std::set<std::string> told;
    for (std::string* text : {&refusal.message, &refusal.wanted, &refusal.actual}) *text = Renamed(*text, told);
    for (std::string& arg : refusal.args) arg = Renamed(arg, told);
  }

 private:
  // Every quoted name that a rule or pass made, replaced; `told` holds those whose maker has been named.
  std::string Renamed(const std::string& text, std::set<std::string>& told) const {
    std::string renamed;
    size_t done = 0;
    for (size_t open = text.find('\''); open != std::string::npos; open = text.find('\'', done)) {
      const size_t close = text.find('\'', open + 1);
      if (close == std::string::npos) break;
      const std::string name = text.substr(open + 1, close - open - 1);
      const auto maker = makers_.find(name);
      if (maker == makers_.end()) {
        // What looks like the end of a name may be the beginning of the next.
        const bool is_name = name.find_first_of(" ,:") == std::string::npos;
        renamed += text.substr(done, (is_name ? close + 1 : close) - done);
        done = is_name ? close + 1 : close;
        continue;
      }
      renamed += text.substr(done, open - done) + "'" + SourceOf(name) + "'";
      if (told.insert(name).second) renamed += " (here '" + name + "', made by '" + maker->second.by + "')";
      done = close + 1;
    }
    return renamed + text.substr(done);
  }

  const std::string& SourceOf(const std::string& name) const {
    const std::string* source = &name;
    std::set<std::string> seen;
    for (auto maker = makers_.find(name); maker != makers_.end() && seen.insert(*source).second;
         maker = makers_.find(*source)) {
      source = &maker->second.source;
    }
    return *source;
  }

  std::unordered_map<std::string, Maker> makers_;
};

}  // namespace

void NameAsInTheModel(Trace& trace) {
  const Renamer renamer(trace);
  if (renamer.empty()) return;
  for (TraceEntry& entry : trace) {
    if (entry.verdict != TraceEntry::Verdict::kFired) renamer.Rename(entry.refusal);
  }
}

}  // namespace rulerun
