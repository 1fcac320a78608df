#include "engine/report/docs/rule_docs.h"

#include <algorithm>
#include <cctype>

#include "engine/base/text.h"
#include "engine/report/docs/example.h"
#include "engine/report/docs/page.h"
#include "engine/report/docs/pipeline_list.h"
#include "engine/report/docs/places.h"
#include "engine/report/docs/sentences.h"

namespace rulerun {
namespace {

// The rule set that has the rule's page: of this one and those it extends, the farthest up to which nothing changes.
const RuleSet& PageOwner(const DocumentedRules& documented, const Rule& rule) {
  const RuleSet* owner = documented.rules.get();
  for (const auto& base : documented.bases) {
    const Rule* same = SameRule(base.get(), rule);
    if (same == nullptr || !Alike(*same, rule)) break;
    owner = base.get();
  }
  return *owner;
}

std::string LevelsOf(const RuleSet& rules, const RuleFile& file, const Rule& rule) {
  std::vector<std::string> levels;
  for (const RulePlace& place : PlacesOf(rules, file.path, rule)) {
    const std::string level(Name(place.level));
    if (std::find(levels.begin(), levels.end(), level) == levels.end()) levels.push_back(level);
  }
  return Join(levels, ", ");
}

std::string TestsText(const Rule& rule) {
  size_t misses = 0;
  for (const RuleTest& test : rule.tests) misses += test.kind == RuleTest::Kind::kRefused ? 1 : 0;
  return std::to_string(rule.tests.size()) + " | " + std::to_string(misses);
}

std::string IndexRow(const DocumentedRules& documented, const RuleFile& file, const Rule& rule) {
  const RuleSet& owner = PageOwner(documented, rule);
  const bool own = &owner == documented.rules.get();
  const std::string target = (own ? "" : "../" + owner.id + "/") + PageName(rule.name) + ".md";
  const std::string changed = own && SameRule(documented.base(), rule) != nullptr ? " (changed)" : "";
  return "| [" + Plain(rule.name) + "](" + target + ")" + changed + " | " + std::string(Name(rule.group)) + " | " +
         LevelsOf(*documented.rules, file, rule) + " | " + TestsText(rule) + " | " + SummaryOf(rule) + " |\n";
}

std::string UnsupportedRows(const RuleFile& file) {
  std::string text;
  for (const Unsupported& entry : file.unsupported) {
    std::vector<std::string> ops;
    for (const std::string& op : entry.ops) ops.push_back(Code(op));
    text += "| " + Join(ops, ", ") + " | " + Plain(entry.reason) + " |\n";
  }
  return text;
}

// What stages and rules ask for.
std::string TargetTables(const RuleSet& rules) {
  std::string text;
  if (!rules.platforms.empty()) text += "\n## Platforms\n\n| platform | facts |\n|---|---|\n";
  for (const auto& [name, platform] : rules.platforms) {
    std::vector<std::string> facts;
    for (const auto& [fact, value] : platform.facts) facts.push_back(Code(Join({fact, std::to_string(value)}, " ")));
    text += "| " + Code(name) + " | " + Join(facts, ", ") + " |\n";
  }
  if (!rules.options.empty()) text += "\n## Options\n\n| option | session config key | default |\n|---|---|---|\n";
  for (const auto& [name, option] : rules.options) {
    const std::string value = option.value ? std::to_string(*option.value) : "as the platform's fact of that name";
    text += "| " + Code(name) + " | " + Code(option.key) + " | " + value + " |\n";
  }
  return text;
}

std::string Index(const DocumentedRules& documented) {
  const RuleSet& rules = *documented.rules;
  std::string text = "<!-- Written by scripts/docs; edit the rules instead. -->\n# Rules of " + rules.id + " " +
                     rules.version + "\n\n" + Plain(rules.describes) + ".";
  if (documented.base() != nullptr) {
    text += " It extends [" + documented.base()->id + "](../" + documented.base()->id + "/README.md).";
  }
  text += "\n";
  for (const auto& [path, file] : rules.files) {
    if (!file.rules.empty()) {
      text += "\n## " + path + "\n\n| rule | group | level | tests | near misses | |\n|---|---|---|---|---|---|\n";
      for (const auto& rule : file.rules) text += IndexRow(documented, file, *rule);
    }
    const std::string unsupported = UnsupportedRows(file);
    if (!unsupported.empty()) text += "\n### unsupported\n\n| operators | reason |\n|---|---|\n" + unsupported;
  }
  const std::string pipeline = PipelineList(rules);
  if (!pipeline.empty()) text += "\n## Pipeline\n\n" + pipeline;
  return text + TargetTables(rules);
}

}  // namespace

std::string PageName(const std::string& rule) {
  std::string name;
  for (const char c : rule) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' || c == '_';
    name += plain ? c : '_';
  }
  return name;
}

Result<std::map<std::string, std::string>> DocumentRules(const DocumentedRules& documented,
                                                         const KernelRegistry& kernels) {
  const RuleSet& rules = *documented.rules;
  std::map<std::string, std::string> files;
  files["README.md"] = Index(documented);
  for (const auto& [path, file] : rules.files) {
    for (const auto& rule : file.rules) {
      if (&PageOwner(documented, *rule) != &rules) continue;
      const std::string page = PageName(rule->name);
      const RuleTest* test = FiringTest(*rule);
      if (test != nullptr) {
        RULERUN_ASSIGN(files[page + ".svg"], DrawTest(rules, file, *rule, *test, kernels));
      }
      files[page + ".md"] = WritePage({&documented, &file, rule.get()}, test != nullptr);
    }
  }
  return files;
}

std::string DocumentIndex(const std::vector<DocumentedRules>& all) {
  std::string text = "<!-- Written by scripts/docs. -->\n# Rules\n\n| rule set | |\n|---|---|\n";
  for (const DocumentedRules& documented : all) {
    const RuleSet& rules = *documented.rules;
    text +=
        "| [" + rules.id + "](" + rules.id + "/README.md) " + rules.version + " | " + Plain(rules.describes) + " |\n";
  }
  return text;
}

}  // namespace rulerun
