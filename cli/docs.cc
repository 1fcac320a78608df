// rulerun docs: a page for every rule.
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/target_options.h"
#include "engine/base/codes.h"
#include "engine/base/text.h"
#include "engine/graph/write_file.h"
#include "engine/report/docs/rule_docs.h"

namespace rulerun::cli {
namespace {

namespace fs = std::filesystem;

using RuleSetPtr = std::shared_ptr<const RuleSet>;
using Files = std::map<std::string, std::string>;  // path below the output folder -> content

RuleSetPtr FindId(const std::vector<RuleSetPtr>& all, const std::string& id) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const RuleSetPtr& rules) { return rules->id == id; });
  return found == all.end() ? nullptr : *found;
}

// The rule sets, and behind each those it extends, every one once.
Result<std::vector<RuleSetPtr>> LoadAll(const std::vector<std::string>& wanted) {
  std::vector<RuleSetPtr> all;
  for (const std::string& name : wanted) {
    RULERUN_ASSIGN(const RuleSetPtr rules, LoadRules(name));
    if (FindId(all, rules->id) == nullptr) all.push_back(rules);
    for (const std::string& id : rules->extends) {
      if (FindId(all, id) != nullptr) continue;
      const fs::path beside = fs::path(rules->path).parent_path() / (id + ".yaml");
      std::error_code error;
      RULERUN_ASSIGN(RuleSetPtr base, LoadRules(fs::exists(beside, error) ? beside.string() : id));
      all.push_back(std::move(base));
    }
  }
  return all;
}

DocumentedRules Documented(const RuleSetPtr& rules, const std::vector<RuleSetPtr>& all, const std::string& output) {
  DocumentedRules documented;
  documented.rules = rules;
  documented.folder = output + "/" + rules->id;
  for (const std::string& id : rules->extends) {
    if (const RuleSetPtr base = FindId(all, id)) documented.bases.push_back(base);
  }
  for (const RuleSetPtr& other : all) {
    if (!other->extends.empty() && other->extends.front() == rules->id) documented.derived.push_back(other);
  }
  return documented;
}

Result<Files> Document(const std::vector<RuleSetPtr>& all, const std::string& output) {
  Files files;
  std::vector<DocumentedRules> documented;
  for (const RuleSetPtr& rules : all) documented.push_back(Documented(rules, all, output));
  for (const DocumentedRules& one : documented) {
    RULERUN_ASSIGN(const Files pages, DocumentRules(one, KernelRegistry::Default()));
    for (const auto& [name, content] : pages) files[one.rules->id + "/" + name] = content;
  }
  files["README.md"] = DocumentIndex(documented);
  return files;
}

Status WriteAll(const Files& files, const std::string& output) {
  for (const auto& [name, content] : files) {
    const fs::path path = fs::path(output) / name;
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    if (error) {
      return Error{Code::kCannotWrite, "cannot make the folder: " + error.message(), path.parent_path().string(), ""};
    }
    RULERUN_RETURN_IF_ERROR(WriteFile(path.string(), content));
  }
  return {};
}

std::string ReadFile(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Files that are missing, differ, or that no rule has any more.
std::vector<std::string> OutOfDate(const Files& files, const std::string& output) {
  std::vector<std::string> names;
  for (const auto& [name, content] : files) {
    if (ReadFile(fs::path(output) / name) != content) names.push_back(name);
  }
  std::error_code error;
  for (auto it = fs::recursive_directory_iterator(output, error); !error && it != fs::recursive_directory_iterator();
       it.increment(error)) {
    const std::string name = it->path().lexically_relative(output).generic_string();
    if (it->is_regular_file(error) && files.count(name) == 0) names.push_back(name);
  }
  return names;
}

}  // namespace

Result<int> RunDocs(const Arguments& arguments) {
  const auto app = MakeApp(
      "rulerun docs",
      "Writes a page of Markdown for every rule of rule sets and of those they extend: what it does, with a "
      "picture; when; its conditions, tests and known faults.",
      "rulerun docs ort130 ort130-safe npu-example --output docs/rules\n  rulerun docs mine.yaml --output pages");
  std::vector<std::string> wanted;
  std::string output;
  bool check = false;
  app->add_option("RULES", wanted, "Rule sets: YAML files, or names of those that come with rulerun")->required();
  app->add_option("-o,--output", output, "Folder for README.md and a folder for every rule set")
      ->option_text("DIR")
      ->required();
  app->add_flag("--check", check, "Write nothing; exit with 1 where the folder is not up to date");
  RULERUN_ASSIGN(const bool go_on, Parse(*app, arguments));
  if (!go_on) return 0;

  RULERUN_ASSIGN(const std::vector<RuleSetPtr> all, LoadAll(wanted));
  RULERUN_ASSIGN(const Files files, Document(all, output));
  if (!check) {
    RULERUN_RETURN_IF_ERROR(WriteAll(files, output));
    RULERUN_RETURN_IF_ERROR(Print(std::to_string(files.size()) + " files in " + output + "\n"));
    return 0;
  }
  const std::vector<std::string> stale = OutOfDate(files, output);
  const std::string before = "not up to date: " + output + "/";
  RULERUN_RETURN_IF_ERROR(
      Print(stale.empty() ? output + " is up to date\n" : before + Join(stale, "\n" + before) + "\n"));
  return stale.empty() ? 0 : 1;
}

}  // namespace rulerun::cli
