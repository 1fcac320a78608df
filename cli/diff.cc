// rulerun diff: a model rewritten in two ways, which nodes differ, and by which rule.
#include <algorithm>
#include <array>
#include <map>
#include <sstream>
#include <utility>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/table.h"
#include "cli/target_options.h"
#include "engine/base/codes.h"
#include "engine/base/text.h"
#include "engine/graph/load.h"
#include "engine/report/diff.h"

namespace rulerun::cli {
namespace {

constexpr size_t kMostNodes = 10;   // told one by one, unless --nodes asks for all
constexpr size_t kMostAnchors = 4;  // names of nodes beside a rule, likewise
constexpr size_t kLabelWidth = 7;   // "right  "
constexpr char kOptionPrefix[] = "option.";

std::string Label(Side side) {
  const std::string name(Name(side));
  return name + std::string(kLabelWidth - name.size(), ' ');
}

// --- reading a side

const std::vector<std::string>& SideKeys() {
  static const std::vector<std::string> keys = {"level", "platform", "ep", "rules", "disable", "option"};
  return keys;
}

// A key that is none of ours must be an option of the rule set.
Status CheckOptionKey(const TargetOptions& options, const std::string& key) {
  RULERUN_ASSIGN(const auto rules, LoadRules(options.rules));
  std::vector<std::string> names = SideKeys();
  names.back() += ".KEY";
  for (const auto& [name, option] : rules->options) {
    if (name == key || option.key == key) return {};
    names.push_back(name);
  }
  return Error{Code::kBadFlagValue, "there is no key '" + key + "'" + DidYouMean(key, names), "",
               "Keys: " + Join(names, ", ") + "."};
}

// "level=extended platform=arm64" on top of what the flags say.
Result<TargetOptions> ReadSide(const std::string& text, TargetOptions options) {
  std::vector<std::string> unknown;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == word.size()) {
      return Error{Code::kBadFlagValue, "'" + word + "' is not KEY=VALUE" + DidYouMean(word, SideKeys()), "",
                   "Write it like 'level=extended platform=arm64'."};
    }
    const std::string key = word.substr(0, equals);
    const std::string value = word.substr(equals + 1);
    if (key == "level") {
      options.level = value;
    } else if (key == "platform") {
      options.platform = value;
    } else if (key == "ep") {
      options.provider = value;
    } else if (key == "rules") {
      options.rules = value;
    } else if (key == "disable") {
      options.disabled.push_back(value);
    } else if (StartsWith(key, kOptionPrefix)) {
      options.options.push_back(word.substr(sizeof kOptionPrefix - 1));
    } else {
      unknown.push_back(key);
      options.options.push_back(word);
    }
  }
  for (const std::string& key : unknown) RULERUN_RETURN_IF_ERROR(CheckOptionKey(options, key));
  return options;
}

// What is wrong with a side is said of the flag that gave it.
template <typename T>
Result<T> At(Side side, Result<T> result) {
  if (result.ok() || result.error().kind() != ErrorKind::kUsage) return result;
  Error error = result.error();
  const bool flag = error.place.empty() || StartsWith(error.place, "--");
  const std::string name = "--" + std::string(Name(side));
  error.place = flag ? name : name + ", " + error.place;
  return error;
}

// --- text

std::string SideLine(Side side, const DiffSide& described) {
  std::string text = Label(side) + described.rules + ", level " + described.level + ", " + described.provider + ", " +
                     described.platform;
  for (const std::string& option : described.options) text += ", " + option;
  if (!described.disabled.empty()) text += ", without '" + Join(described.disabled, "', '") + "'";
  return text + "\n";
}

std::string RefusalLines(const Diff& diff) {
  std::string text;
  for (const Side side : kSides) {
    const std::optional<Error>& refused = diff.sides[side].refused;
    text += Label(side) + (refused ? "ONNX Runtime refuses this model: " + ToString(*refused) : "is taken") + "\n";
  }
  return text;
}

std::string Outcome(const NodeFate& fate) {
  std::string text(Words(fate.fate));
  if (!fate.into.empty() && fate.into != fate.node.op) text += ": " + fate.into;
  if (!fate.rule.empty()) text += ", by '" + fate.rule + "'";
  return text;
}

std::string CauseLine(const DiffCause& cause) {
  std::string text = "'" + cause.rule + "' fired " + std::string(Name(cause.fired)) + "; " +
                     std::string(Name(Other(cause.fired))) + ", ";
  if (cause.kind == DiffCause::Kind::kRefused) text += "it refused, " + (cause.check.empty() ? "" : cause.check + ": ");
  text += cause.message;
  const std::string& place = cause.refusal_place.empty() ? cause.place : cause.refusal_place;
  return place.empty() ? text : text + "  [" + place + "]";
}

std::string NodeText(const NodeDiff& node) {
  std::string text = "  " + node.node.name + " (" + node.node.op + ")\n";
  const NodeFate& left = node.fates[Side::kLeft];
  const NodeFate& right = node.fates[Side::kRight];
  const bool same_words = left.fate == right.fate && left.into == right.into;  // only its inputs or attributes differ
  for (const Side side : kSides) {
    text += "    " + Label(side) + Outcome(node.fates[side]);
    if (same_words && !node.forms[side].empty()) text += ": " + Join(node.forms[side], "; ");
    text += "\n";
  }
  if (node.cause) text += "    " + CauseLine(*node.cause) + "\n";
  // That a rule is not there, or fits nothing, does not say why the node stays float.
  const bool told =
      node.cause && node.cause->kind != DiffCause::Kind::kAbsent && node.cause->kind != DiffCause::Kind::kNoMatch;
  if (told) return text;
  for (const Side side : kSides) {
    const NodeFate& fate = node.fates[side];
    if (fate.fate == Fate::kFloat && left.fate != right.fate) {
      text += "    float " + std::string(Name(side)) + ": " + fate.reason.Text() + "\n";
    }
  }
  return text;
}

// How many nodes became what on each side, the most frequent first.
std::string Summary(const Diff& diff, int width) {
  constexpr char kConversions[] = "quantizes or dequantizes";
  std::map<std::array<std::string, 2>, size_t> kinds;
  for (const NodeDiff& node : diff.nodes) {
    const NodeFate& left = node.fates[Side::kLeft];
    const NodeFate& right = node.fates[Side::kRight];
    std::array<std::string, 2> kind = {std::string(Words(left.fate)), std::string(Words(right.fate))};
    if (node.node.quantizer) {
      kind = {kConversions, ""};
    } else if (kind[0] == kind[1] && left.into != right.into) {
      kind = {kind[0] + ": " + left.into, kind[1] + ": " + right.into};
    } else if (kind[0] == kind[1]) {
      kind = {kind[0] + ": " + left.into, "the same, with other inputs or attributes"};
    }
    ++kinds[kind];
  }
  std::vector<std::pair<std::array<std::string, 2>, size_t>> rows(kinds.begin(), kinds.end());
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  Table table({"nodes", "left", "right"});
  table.AlignRight(0);
  for (const auto& [kind, count] : rows) table.Add({std::to_string(count), kind[0], kind[1]});
  return table.empty() ? "" : "\n" + table.ToText(width);
}

// Whether both sides ask for the same: then there is nothing to compare.
bool SameSides(const Diff& diff) {
  return SideLine(Side::kLeft, diff.sides[Side::kLeft]).substr(kLabelWidth) ==
         SideLine(Side::kRight, diff.sides[Side::kRight]).substr(kLabelWidth);
}

std::string NodeLines(const Diff& diff, bool all) {
  std::string text;
  size_t told = 0;
  size_t left_out = 0;
  size_t conversions = 0;
  for (const NodeDiff& node : diff.nodes) {
    if (!all && node.node.quantizer) {
      ++conversions;
    } else if (!all && told == kMostNodes) {
      ++left_out;
    } else {
      text += NodeText(node);
      ++told;
    }
  }
  std::vector<std::string> more;
  if (left_out > 0) more.push_back(std::to_string(left_out) + " more");
  if (conversions > 0) more.push_back(std::to_string(conversions) + " that quantize or dequantize");
  if (!more.empty()) text += "  " + std::string(told > 0 ? "and " : "") + Join(more, ", ") + ": --nodes lists all\n";
  return text.empty() ? "" : "\n" + text;
}

std::string Anchors(const std::vector<std::string>& nodes, bool all) {
  const size_t shown = all ? nodes.size() : std::min(nodes.size(), kMostAnchors);
  const std::string names = Join({nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(shown)}, ", ");
  return shown == nodes.size() ? names : names + ", and " + std::to_string(nodes.size() - shown) + " more";
}

std::string RuleTable(const Diff& diff, bool all, int width) {
  if (diff.rules.empty()) return "\nThe same rules fired at the same nodes.\n";
  Table table({"rule or pass", "left", "right", "where"});
  table.AlignRight(1);
  table.AlignRight(2);
  for (const RuleDiff& rule : diff.rules) {
    std::vector<std::string> where;
    for (const Side side : kSides) {
      if (!rule.only[side].empty()) {
        where.push_back("only " + std::string(Name(side)) + ": " + Anchors(rule.only[side], all));
      }
    }
    table.Add({rule.rule, std::to_string(rule.fired[Side::kLeft]), std::to_string(rule.fired[Side::kRight]),
               Join(where, "; ")});
  }
  return "\n" + table.ToText(width);
}

std::string InsertedTable(const Diff& diff, int width) {
  if (diff.inserted.empty()) return "";
  Table table({"inserted", "left", "right", "by"});
  table.AlignRight(1);
  table.AlignRight(2);
  for (const InsertedDiff& row : diff.inserted) {
    table.Add({row.op, std::to_string(row.count[Side::kLeft]), std::to_string(row.count[Side::kRight]), row.rule});
  }
  return "\n" + table.ToText(width);
}

std::string Report(const Diff& diff, bool all, int width) {
  std::string text = diff.model + "\n";
  for (const Side side : kSides) text += SideLine(side, diff.sides[side]);
  text += "\n";
  if (diff.sides[Side::kLeft].refused || diff.sides[Side::kRight].refused) return text + RefusalLines(diff);
  if (diff.same) {
    text += SameSides(diff) ? "Both sides ask for the same, and get the same graph.\n" : "The same graph.\n";
  } else if (diff.structure.empty()) {
    text += std::to_string(diff.nodes.size()) + " of " + std::to_string(diff.node_count) + " nodes differ.\n";
  } else {
    text += "The same operators, but other constants or connections:\n";
    for (const std::string& line : diff.structure) text += "  " + line + "\n";
  }
  return text + Summary(diff, width) + NodeLines(diff, all) + InsertedTable(diff, width) + RuleTable(diff, all, width);
}

struct DiffOptions {
  TargetOptions target;
  std::string model;
  Sides<std::string> sides;
  bool json = false;
  bool nodes = false;
  bool exit_code = false;
};

Result<int> RunDiffOf(const DiffOptions& options) {
  Progress progress(options.target.quiet);
  progress.Say("reading rules");
  Sides<Setup> setups;
  for (const Side side : kSides) {
    RULERUN_ASSIGN(const TargetOptions target, At(side, ReadSide(options.sides[side], options.target)));
    RULERUN_ASSIGN(setups[side], At(side, MakeSetup(target)));
  }
  Sides<Rewriting> rewritings;
  for (const Side side : kSides) {
    progress.Say("rewriting " + options.model + ", " + std::string(Name(side)));
    const Setup& setup = setups[side];
    RULERUN_ASSIGN(Model model, LoadModel(options.model, setup.rules->schemas));
    RULERUN_ASSIGN(rewritings[side],
                   RewriteModel(std::move(model), *setup.rules, setup.target, KernelRegistry::Default()));
  }
  const Diff diff = Compare(rewritings[Side::kLeft], rewritings[Side::kRight]);
  progress.Done();
  RULERUN_RETURN_IF_ERROR(Print(options.json ? ToJson(diff) : Report(diff, options.nodes, TerminalWidth())));
  return options.exit_code && !diff.same ? 1 : 0;
}

}  // namespace

Result<int> RunDiff(const Arguments& arguments) {
  const auto app =
      MakeApp("rulerun diff",
              "Rewrites a model in two ways and tells which nodes differ, and by which rule.\n\n"
              "SIDE is KEY=VALUE ..., on top of the other flags: level, platform, ep, rules, disable, and\n"
              "options of the rule set as NAME=VALUE or option.KEY=VALUE.",
              "rulerun diff --left 'level=extended platform=x86-64-avx2' "
              "--right 'level=extended platform=arm64' model.onnx");
  DiffOptions options;
  app->add_option("MODEL", options.model, "ONNX file")->required();
  app->add_option("--left", options.sides[Side::kLeft], "One way [as the other flags say]")->option_text("SIDE");
  app->add_option("--right", options.sides[Side::kRight], "The other way [as the other flags say]")
      ->option_text("SIDE");
  app->add_flag("--json", options.json, "As JSON (schemas/diff.schema.json)");
  app->add_flag("--nodes", options.nodes, "Every node, also those that quantize or dequantize");
  app->add_flag("--exit-code", options.exit_code, "Exit with 1 where there are differences");
  AddTargetOptions(*app, options.target);
  RULERUN_ASSIGN(const bool go_on, Parse(*app, arguments));
  if (!go_on) return 0;
  if (options.sides[Side::kLeft].empty() && options.sides[Side::kRight].empty()) {
    return Error{Code::kCommandLine, "--left or --right is required", "", "See 'rulerun diff --help'."};
  }
  return RunDiffOf(options);
}

}  // namespace rulerun::cli
