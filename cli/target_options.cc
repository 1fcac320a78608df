#include "cli/target_options.h"

#include <filesystem>
#include <set>

#include "engine/base/codes.h"
#include "engine/base/text.h"

namespace rulerun::cli {
namespace {

namespace fs = std::filesystem;

constexpr char kDefaultRules[] = "ort130";
constexpr char kGroup[] = "Rules and target";

const std::vector<std::string>& LevelNames() {
  static const std::vector<std::string> names = {"disabled", "basic", "extended", "layout", "all"};
  return names;
}

bool IsFile(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

void CollectStage(const Stage& stage, std::set<std::string>& providers, std::set<std::string>& passes) {
  for (const std::string& provider : stage.providers) providers.insert(provider);
  if (!stage.pass.empty()) passes.insert(stage.pass);
  for (const Stage& inner : stage.stages) CollectStage(inner, providers, passes);
}

Status CheckProvider(const std::set<std::string>& known, const std::string& provider) {
  if (known.count(provider) > 0) return {};
  const std::vector<std::string> names(known.begin(), known.end());
  return Error{Code::kUnknownTarget,
               "no rule knows the execution provider '" + provider + "'" + DidYouMean(provider, names), "--ep",
               "Execution providers: " + Join(names, ", ") + "."};
}

Status Disable(const RuleSet& rules, const std::set<std::string>& passes, const TargetOptions& options,
               Target& target) {
  std::vector<std::string> names(passes.begin(), passes.end());
  for (const auto& [path, file] : rules.files) {
    for (const auto& rule : file.rules) names.push_back(rule->name);
  }
  for (const std::string& name : options.disabled) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      return Error{Code::kNothingNamed,
                   "rule set '" + rules.id + "' has no rule or pass '" + name + "'" + DidYouMean(name, names),
                   "--disable", "'rulerun check --list' names them all."};
    }
    target.disabled.insert(name);
  }
  return {};
}

std::vector<std::string> ShippedIds() {
  std::set<std::string> ids;
  for (const std::string& folder : RuleFolders()) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
      if (entry.path().extension() == ".yaml") ids.insert(entry.path().stem().string());
    }
  }
  return {ids.begin(), ids.end()};
}

}  // namespace

std::vector<std::string> RuleFolders() {
  std::vector<std::string> folders;
  std::error_code error;
  const auto add = [&](const fs::path& path) {
    if (fs::is_directory(path, error)) folders.push_back(path.lexically_normal().string());
  };
  const fs::path binary = fs::read_symlink("/proc/self/exe", error);
  if (!binary.empty()) add(binary.parent_path() / RULERUN_INSTALL_RULES);
  add(fs::path(RULERUN_SOURCE_DIR) / "rules");
  return folders;
}

Result<std::string> FindRules(const std::string& rules) {
  const std::string wanted = rules.empty() ? kDefaultRules : rules;
  if (IsFile(wanted)) return wanted;
  const bool is_id = wanted.find('/') == std::string::npos && !EndsWith(wanted, ".yaml");
  if (is_id) {
    for (const std::string& folder : RuleFolders()) {
      const fs::path path = fs::path(folder) / (wanted + ".yaml");
      if (IsFile(path)) return path.string();
    }
  }
  const std::vector<std::string> ids = ShippedIds();
  std::string remedy = is_id ? "Give the path of a rule set's YAML file with --rules" : "Give an existing file";
  if (!ids.empty()) remedy += ", or one that comes with rulerun: " + Join(ids, ", ");
  return Error{Code::kNoSuchRuleSet,
               is_id ? "there is no rule set of this name" + DidYouMean(wanted, ids) : "no such file", wanted,
               remedy + "."};
}

Result<std::shared_ptr<const RuleSet>> LoadRules(const std::string& rules) {
  RULERUN_ASSIGN(const std::string path, FindRules(rules));
  return ReadRuleSet(path, RuleFolders());
}

Result<Level> LevelFrom(const std::string& text) {
  if (const auto level = ParseLevel(text)) return *level;
  return Error{Code::kUnknownTarget, "there is no level '" + text + "'" + DidYouMean(text, LevelNames()), "--level",
               "Levels: " + Join(LevelNames(), ", ") + " (or 0, 1, 2, 3, 99)."};
}

void AddRulesOption(CLI::App& app, std::string& rules) {
  app.add_option("--rules", rules, "Rule set: a YAML file, or the name of one that comes with rulerun [ort130]")
      ->option_text("FILE")
      ->group(kGroup);
}

void AddTargetOptions(CLI::App& app, TargetOptions& options) {
  AddRulesOption(app, options.rules);
  app.add_option("--level", options.level, "disabled, basic, extended, layout or all [all]")
      ->option_text("LEVEL")
      ->group(kGroup);
  app.add_option("--ep", options.provider, "Execution provider [cpu]")->option_text("NAME")->group(kGroup);
  app.add_option("--platform", options.platform, "x86-64-avx2, x86-64-avx512, arm64 or host [host]")
      ->option_text("NAME")
      ->group(kGroup);
  app.add_option("--option", options.options, "Set an option of the rule set, by its name or session config key")
      ->option_text("KEY=VALUE ...")
      ->expected(1)
      ->take_all()
      ->group(kGroup);
  app.add_option("--disable", options.disabled, "Leave a rule or pass out, by name")
      ->option_text("RULE ...")
      ->expected(1)
      ->take_all()
      ->group(kGroup);
  app.add_flag("--quiet", options.quiet, "No progress");
}

Result<Setup> MakeSetup(const TargetOptions& options) {
  RULERUN_ASSIGN(const Level level, LevelFrom(options.level));
  Setup setup;
  RULERUN_ASSIGN(setup.rules, LoadRules(options.rules));
  std::set<std::string> providers = {"cpu"};
  std::set<std::string> passes;
  for (const Stage& stage : setup.rules->pipeline) CollectStage(stage, providers, passes);
  providers.erase("any");
  RULERUN_RETURN_IF_ERROR(CheckProvider(providers, options.provider));
  RULERUN_ASSIGN(setup.target, MakeTarget(*setup.rules, options.platform, level, options.provider));
  for (const std::string& option : options.options) {
    RULERUN_RETURN_IF_ERROR(SetOption(*setup.rules, setup.target, option));
  }
  RULERUN_RETURN_IF_ERROR(Disable(*setup.rules, passes, options, setup.target));
  return setup;
}

}  // namespace rulerun::cli
