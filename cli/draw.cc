// rulerun draw: a picture of a model, before or after rewriting.
#include <algorithm>
#include <array>
#include <filesystem>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/target_options.h"
#include "engine/base/codes.h"
#include "engine/base/text.h"
#include "engine/graph/load.h"
#include "engine/graph/write_file.h"
#include "engine/pipeline/pipeline.h"
#include "engine/report/draw/dot.h"
#include "engine/report/draw/draw.h"
#include "engine/report/draw/focus.h"
#include "engine/report/draw/html.h"

namespace rulerun::cli {
namespace {

struct DrawOptions {
  TargetOptions target;
  std::string model;
  std::string output;
  std::string format;
  std::string focus;
  int hops = 2;
  bool original = false;
  bool unfolded = false;
  std::string layout = "own";
};

enum class Format { kSvg, kDot, kHtml };

struct FormatName {
  std::string_view name;
  Format format;
};
constexpr auto kFormats =
    std::to_array<FormatName>({{"svg", Format::kSvg}, {"dot", Format::kDot}, {"html", Format::kHtml}});

// By --format, else by the end of the file's name.
Result<Format> FormatOf(const DrawOptions& options) {
  std::string wanted = options.format;
  if (wanted.empty()) {
    const std::string extension = std::filesystem::path(options.output).extension().string();
    wanted = extension.empty() ? "" : extension.substr(1);
  }
  std::vector<std::string> names;
  for (const FormatName& known : kFormats) {
    if (wanted == known.name) return known.format;
    names.emplace_back(known.name);
  }
  const bool asked = !options.format.empty();
  return Error{
      Code::kBadFlagValue,
      asked ? "there is no format '" + wanted + "'" + DidYouMean(wanted, names) : "the name does not say what to write",
      asked ? "--format" : options.output,
      asked ? "Formats: svg, dot, html." : "End it in .svg, .dot or .html, or give --format."};
}

Status CheckLayout(const std::string& layout) {
  const std::vector<std::string> names = {"own", "graphviz"};
  if (std::find(names.begin(), names.end(), layout) != names.end()) return {};
  return Error{Code::kBadFlagValue, "there is no layout '" + layout + "'" + DidYouMean(layout, names), "--layout",
               "Layouts: " + Join(names, ", ") + "."};
}

struct Drawn {
  Drawing before;
  Drawing after;
};

// Both graphs, coloured by what the rules did.
Result<Drawn> DrawBoth(const DrawOptions& options, const Setup& setup) {
  RULERUN_ASSIGN(Model model, LoadModel(options.model, setup.rules->schemas));
  MarkOrigins(*model.graph);
  const std::vector<OriginalNode> original = ListNodes(*model.graph, *setup.rules);
  const std::string name = std::filesystem::path(options.model).filename().string();
  Drawn drawn;
  drawn.before = DrawGraph(*model.graph, *setup.rules);
  Trace trace;
  const Status status = RunPipeline(model, *setup.rules, setup.target, KernelRegistry::Default(), &trace);
  if (!status.ok()) {
    // The graph as read can still be looked at.
    if (!options.original || status.error().kind() != ErrorKind::kRefused) return status.error();
    PrintWarning("coloured by element types alone, since ONNX Runtime refuses the model: " + ToString(status.error()));
    drawn.before.title = name + ", as read";
    return drawn;
  }
  drawn.after = DrawGraph(*model.graph, *setup.rules);
  const Fates fates = FindFates(original, *model.graph, trace, *setup.rules, setup.target);
  ColourOriginal(fates, drawn.before);
  ColourRewritten(fates, drawn.after);
  const std::string target =
      setup.rules->id + ", " + std::string(Name(setup.target.level)) + ", " + setup.target.platform->name;
  drawn.before.title = name + ", as read; what becomes of it: " + target;
  drawn.after.title = name + ": " + target;
  return drawn;
}

// The part that --focus asks for, ready to be laid out.
Result<Drawing> Part(const Drawing& drawing, const DrawOptions& options) {
  Drawing part = drawing;
  if (!options.focus.empty()) {
    RULERUN_ASSIGN(part, FocusOn(drawing, options.focus, options.hops));
  }
  return part;
}

Result<Layout> Place(Drawing& drawing, const DrawOptions& options) {
  CutFarEdges(drawing);
  if (!options.unfolded) FoldIntoColumns(drawing);
  if (options.layout == "graphviz") return LayOutWithGraphviz(drawing);
  return LayOut(drawing);
}

// A page shows both graphs, or the one in which the focus is.
Result<std::string> Page(const Drawn& drawn, const DrawOptions& options) {
  auto before = Part(drawn.before, options);
  auto after = Part(drawn.after, options);
  if (!before.ok() && !after.ok()) return (options.original ? before : after).error();
  std::vector<View> views;
  const auto add = [&](const std::string& label, Result<Drawing>& drawing) -> Status {
    if (!drawing.ok() || drawing->nodes.empty()) return {};
    RULERUN_ASSIGN(Layout layout, Place(*drawing, options));
    views.push_back({label, std::move(*drawing), std::move(layout)});
    return {};
  };
  RULERUN_RETURN_IF_ERROR(add("before", before));
  RULERUN_RETURN_IF_ERROR(add("after", after));
  const std::string& title = drawn.after.nodes.empty() ? drawn.before.title : drawn.after.title;
  return ToHtml(title, views, options.original || views.empty() ? 0 : views.size() - 1);
}

Result<std::string> Write(const Drawn& drawn, const DrawOptions& options, Format format) {
  if (format == Format::kHtml) return Page(drawn, options);
  RULERUN_ASSIGN(Drawing drawing, Part(options.original ? drawn.before : drawn.after, options));
  if (format == Format::kDot) return ToDot(drawing);
  RULERUN_ASSIGN(const Layout layout, Place(drawing, options));
  return ToSvg(drawing, layout);
}

}  // namespace

Result<int> RunDraw(const Arguments& arguments) {
  const auto app =
      MakeApp("rulerun draw",
              "Draws a model's graph, coloured by what the rules make of it: as SVG, as Graphviz's dot, or as an "
              "HTML page to move, zoom, search and click in.",
              "rulerun draw --platform arm64 --output model.html model.onnx\n"
              "  rulerun draw --focus Softmax --hops 2 --output part.svg model.onnx\n"
              "  rulerun draw --original --output before.svg model.onnx");
  DrawOptions options;
  app->add_option("MODEL", options.model, "ONNX file")->required();
  app->add_option("-o,--output", options.output, "File to write, .svg, .dot or .html; appears whole or not at all")
      ->option_text("FILE")
      ->required();
  app->add_option("--format", options.format, "svg, dot or html, whatever the file is called")->option_text("NAME");
  app->add_option("--focus", options.focus, "Only what lies around this: a node, a value, or an operator")
      ->option_text("NAME");
  app->add_option("--hops", options.hops, "How many edges around --focus [2]")->option_text("N");
  app->add_flag("--original", options.original, "The graph as read instead of the rewritten one; a page has both");
  app->add_flag("--unfolded", options.unfolded, "One column, however tall, instead of several side by side");
  app->add_option("--layout", options.layout, "own, or graphviz where that is installed [own]")->option_text("NAME");
  AddTargetOptions(*app, options.target);
  RULERUN_ASSIGN(const bool go_on, Parse(*app, arguments));
  if (!go_on) return 0;
  if (options.hops < 0) {
    return Error{Code::kBadFlagValue, "a number of hops cannot be negative", "--hops", "Give 0 or more."};
  }
  RULERUN_ASSIGN(const Format format, FormatOf(options));
  RULERUN_RETURN_IF_ERROR(CheckLayout(options.layout));

  Progress progress(options.target.quiet);
  progress.Say("reading rules");
  RULERUN_ASSIGN(const Setup setup, MakeSetup(options.target));
  progress.Say("rewriting " + options.model);
  RULERUN_ASSIGN(const Drawn drawn, DrawBoth(options, setup));
  progress.Say("drawing");
  RULERUN_ASSIGN(const std::string text, Write(drawn, options, format));
  RULERUN_RETURN_IF_ERROR(WriteFile(options.output, text));
  return 0;
}

}  // namespace rulerun::cli
