// rulerun inspect: operators at every level, constants by role, sizes, dynamic dimensions.
#include <algorithm>
#include <filesystem>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/models.h"
#include "cli/table.h"
#include "cli/target_options.h"
#include "engine/base/text.h"
#include "engine/report/inspect.h"

namespace rulerun::cli {
namespace {

constexpr size_t kShownShapes = 3;
constexpr size_t kShownNodes = 12;
constexpr size_t kExtended = 2;
constexpr size_t kLayout = 3;
constexpr size_t kAll = 4;

std::string CountText(int count) { return count == 0 ? "" : std::to_string(count); }

std::string LevelTable(const Inspection& inspection, int width) {
  std::vector<std::string> header = {"operator", "original"};
  for (const Level level : kLevels) header.emplace_back(Name(level));
  Table table(header);
  for (size_t i = 1; i < header.size(); ++i) table.AlignRight(i);
  for (const OpCounts& row : inspection.ops) {
    std::vector<std::string> cells = {row.op, CountText(row.original)};
    for (size_t i = 0; i < kLevels.size(); ++i) {
      cells.push_back(inspection.refused[i] ? "refused" : CountText(row.at[i]));
    }
    table.Add(cells);
  }
  std::string text = table.ToText(width);
  for (size_t i = 0; i < kLevels.size(); ++i) {
    if (!inspection.refused[i]) continue;
    text += "ONNX Runtime refuses this model at level " + std::string(Name(kLevels[i])) + ": " +
            ToString(*inspection.refused[i]) + "\n";
  }
  return text;
}

// What they become, with counts where that is not one thing.
std::string OutcomeText(const Outcome& outcome, size_t level) {
  const auto& became = outcome.at[level];
  std::vector<std::string> parts;
  for (const auto& [words, count] : became) {
    parts.push_back(words + (became.size() > 1 ? " (" + std::to_string(count) + ")" : ""));
  }
  return Join(parts, "; ");
}

// What the original operators become at level extended, and at all where that differs.
std::string OutcomeTable(const Inspection& inspection, int width) {
  if (inspection.refused[kExtended] || inspection.outcomes.empty()) return "";
  const bool all = !inspection.refused[kAll] && !(inspection.layout_is_extended && inspection.all_is_layout);
  std::vector<std::string> header = {"operator", "count", "group", "becomes, at level extended"};
  if (all) header.emplace_back("at level all");
  Table table(header);
  table.AlignRight(1);
  for (const Outcome& outcome : inspection.outcomes) {
    std::vector<std::string> cells = {outcome.op, std::to_string(outcome.count), outcome.group,
                                      OutcomeText(outcome, kExtended)};
    if (all) cells.push_back(OutcomeText(outcome, kAll));
    table.Add(cells);
  }
  return "\n" + table.ToText(width);
}

std::string ChangedCounts(const Inspection& inspection, int width) {
  Table table({"operator", "extended", "layout"});
  table.AlignRight(1);
  table.AlignRight(2);
  for (const OpCounts& row : inspection.ops) {
    if (row.at[kExtended] == row.at[kLayout]) continue;
    table.Add({row.op, std::to_string(row.at[kExtended]), std::to_string(row.at[kLayout])});
  }
  return table.empty() ? " the same operators, connected otherwise\n" : "\n" + table.ToText(width);
}

std::string ChangedNodes(const Inspection& inspection, int width) {
  Table table({"node", "operator", "extended", "layout", "by"});
  size_t left = 0;
  std::string inserted;
  for (const LayoutChange& change : inspection.layout_changes) {
    if (change.inserted != 0) {
      inserted += (inserted.empty() ? "Inserted: " : ", ") + change.op + (change.inserted > 0 ? " +" : " ") +
                  std::to_string(change.inserted) + " (" + change.rule + ")";
    } else if (left++ < kShownNodes) {
      table.Add({change.node, change.op, change.extended, change.layout, change.rule});
    }
  }
  std::string text = table.empty() ? "" : "\n" + table.ToText(width);
  if (left > kShownNodes) {
    text += "and " + std::to_string(left - kShownNodes) +
            " more: 'rulerun diff --left level=extended --right level=layout' lists them\n";
  }
  return text + (inserted.empty() ? "" : inserted + "\n");
}

std::string Changes(const Inspection& inspection, int width) {
  const bool known = !inspection.refused[kExtended] && !inspection.refused[kLayout];
  if (!known) return "";
  std::string text = "\nLayout against extended:";
  text += inspection.layout_is_extended ? " the same graph\n"
                                        : ChangedCounts(inspection, width) + ChangedNodes(inspection, width);
  if (inspection.refused.back()) return text;
  return text + "All against layout: " + (inspection.all_is_layout ? "the same graph\n" : "another graph\n");
}

// The first few, or the one that all have.
std::string ShapesText(const std::vector<std::string>& shapes) {
  const bool alike =
      std::all_of(shapes.begin(), shapes.end(), [&](const std::string& s) { return s == shapes.front(); });
  if (alike) return shapes.front();
  const auto end = shapes.begin() + static_cast<std::ptrdiff_t>(std::min(shapes.size(), kShownShapes));
  return Join({shapes.begin(), end}, ", ") + (shapes.size() > kShownShapes ? ", ..." : "");
}

std::string ConstantTable(const Inspection& inspection, int width) {
  if (inspection.constants.empty()) return "\nNo constants.\n";
  Table table({"constants", "type", "count", "shapes"});
  table.AlignRight(2);
  for (const ConstantGroup& group : inspection.constants) {
    table.Add({group.role, Join({group.types.begin(), group.types.end()}, "/"), std::to_string(group.count),
               ShapesText(group.shapes)});
  }
  return "\n" + table.ToText(width);
}

std::string SizeTable(const ModelSizes& sizes, int width) {
  Table table({"part of the file", "bytes", "share"});
  table.AlignRight(1);
  table.AlignRight(2);
  const auto add = [&](const std::string& what, size_t bytes) {
    const size_t percent = sizes.total == 0 ? 0 : (100 * bytes + sizes.total / 2) / sizes.total;
    table.Add({what, std::to_string(bytes), std::to_string(percent) + " %"});
  };
  add("total", sizes.total);
  add("initializers", sizes.initializers);
  add("nodes", sizes.nodes);
  add("of which metadata", sizes.metadata);
  add("the rest", sizes.total - sizes.initializers - sizes.nodes);  // inputs, outputs, types of values
  return "\n" + table.ToText(width);
}

std::string BoundaryTable(const Inspection& inspection, int width) {
  Table table({"", "name", "type", "shape"});
  bool dynamic = false;
  for (const BoundaryValue& value : inspection.boundary) {
    table.Add({value.is_input ? "input" : "output", value.name, value.type, value.shape});
    dynamic = dynamic || value.dynamic;
  }
  return "\n" + table.ToText(width) + (dynamic ? "Dynamic: --dim NAME=SIZE fixes a size for run and bench.\n" : "");
}

std::string Report(const Inspection& inspection, int width) {
  return inspection.model + "\n" + inspection.rules + ", " + inspection.provider + ", " + inspection.platform + "\n\n" +
         LevelTable(inspection, width) + OutcomeTable(inspection, width) + Changes(inspection, width) +
         ConstantTable(inspection, width) + SizeTable(inspection.sizes, width) + BoundaryTable(inspection, width);
}

// Files side by side, against the first: a quantized model beside the float one.
std::string Comparison(const std::vector<Inspection>& inspections, int width) {
  if (inspections.size() < 2) return "";
  Table table({"bytes", "total", "", "initializers", "", "nodes", "", "metadata of nodes", ""});
  for (size_t column = 1; column <= 8; ++column) table.AlignRight(column);
  const ModelSizes& first = inspections.front().sizes;
  for (const Inspection& inspection : inspections) {
    std::vector<std::string> cells = {inspection.model};
    const auto add = [&](size_t bytes, size_t reference) {
      cells.push_back(std::to_string(bytes));
      cells.push_back(reference == 0 ? "" : std::to_string((100 * bytes + reference / 2) / reference) + " %");
    };
    add(inspection.sizes.total, first.total);
    add(inspection.sizes.initializers, first.initializers);
    add(inspection.sizes.nodes, first.nodes);
    add(inspection.sizes.metadata, first.metadata);
    table.Add(cells);
  }
  return "\n" + table.ToText(width);
}

// Words for constants come with the rule sets; without them constants go by their names in the schemas.
RoleWords FindRoleWords() {
  std::error_code error;
  for (const std::string& folder : RuleFolders()) {
    const std::string path = folder + "/words/roles.yaml";
    if (!std::filesystem::exists(path, error)) continue;
    auto words = ReadRoleWords(path);
    if (words.ok()) return *words;
  }
  return {};
}

}  // namespace

Result<int> RunInspect(const Arguments& arguments) {
  const auto app =
      MakeApp("rulerun inspect",
              "Shows a model's operators at every level and what becomes of them, its constants by role, sizes and "
              "dynamic dimensions. Of several models, also their sizes side by side.",
              "rulerun inspect --platform arm64 model.onnx\n  rulerun inspect float.onnx quantized.onnx");
  TargetOptions options;
  std::vector<std::string> models;
  bool json = false;
  app->add_option("MODEL", models, "ONNX files, or folders of them")->required();
  app->add_flag("--json", json, "As JSON (schemas/inspect.schema.json)");
  AddTargetOptions(*app, options);
  RULERUN_ASSIGN(const bool go_on, Parse(*app, arguments));
  if (!go_on) return 0;

  Progress progress(options.quiet);
  RULERUN_ASSIGN(const Setup setup, MakeSetup(options));
  RULERUN_ASSIGN(const std::vector<std::string> paths, FindModels(models));
  const RoleWords words = FindRoleWords();
  std::vector<Inspection> inspections;
  for (const std::string& path : paths) {
    progress.Say("inspecting " + path);
    RULERUN_ASSIGN(Inspection inspection, Inspect(path, *setup.rules, setup.target, KernelRegistry::Default(), words));
    inspections.push_back(std::move(inspection));
  }
  progress.Done();
  std::string text;
  for (const Inspection& inspection : inspections) {
    text += (text.empty() ? "" : "\n") + Report(inspection, TerminalWidth());
  }
  text += Comparison(inspections, TerminalWidth());
  RULERUN_RETURN_IF_ERROR(Print(json ? ToJson(inspections) : text));
  return 0;
}

}  // namespace rulerun::cli
