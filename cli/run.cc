// rulerun run: rewrites a model, runs it once, and saves or summarizes its outputs.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/run_options.h"
#include "cli/table.h"
#include "engine/base/codes.h"
#include "engine/base/text.h"
#include "kernels/executor/npy.h"

namespace rulerun::cli {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kFirstValues = 4;

// One '_' for each character that is no plain one; those beyond ASCII are several bytes of UTF-8.
std::string FileName(const std::string& output) {
  std::string name;
  for (const char c : output) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
    const bool goes_on = (static_cast<unsigned char>(c) & 0xC0) == 0x80;
    if (!goes_on) name += plain ? c : '_';
  }
  return name + ".npy";
}

Status MakeFolder(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error) return {};
  return Error{Code::kCannotWrite, "cannot make the folder: " + error.message(), folder, ""};
}

Status WriteOutputs(const TensorMap& outputs, const std::string& folder) {
  std::map<std::string, std::string> taken;  // file -> output
  for (const auto& [name, tensor] : outputs) {
    const auto [place, fresh] = taken.emplace(FileName(name), name);
    if (fresh) continue;
    return Error{Code::kMissingInput,
                 "outputs '" + place->second + "' and '" + name + "' would both be written to " + place->first, folder,
                 "Rename one of them in the model."};
  }
  RULERUN_RETURN_IF_ERROR(MakeFolder(folder));
  for (const auto& [file, name] : taken) {
    RULERUN_RETURN_IF_ERROR(WriteNpy((fs::path(folder) / file).string(), outputs.find(name)->second));
  }
  return {};
}

std::string Number(const Tensor& tensor, double value) {
  return IsFloat(tensor.type()) ? FormatFloat(static_cast<float>(value)) : FormatDouble(value);
}

std::string FirstValues(const Tensor& tensor) {
  std::vector<std::string> values;
  for (int64_t i = 0; i < std::min(tensor.count(), kFirstValues); ++i) {
    values.push_back(tensor.type() == DataType::kString ? "'" + tensor.strings()[static_cast<size_t>(i)] + "'"
                                                        : Number(tensor, ElementAsDouble(tensor, i)));
  }
  return Join(values, ", ") + (tensor.count() > kFirstValues ? ", ..." : "");
}

std::vector<std::string> SummaryRow(const std::string& name, const Tensor& tensor) {
  std::string min;
  std::string max;
  if (tensor.type() != DataType::kString && tensor.count() > 0) {
    double low = NAN;
    double high = NAN;
    for (int64_t i = 0; i < tensor.count(); ++i) {
      const double value = ElementAsDouble(tensor, i);
      low = std::isnan(low) ? value : std::min(low, value);  // NaN only if every one is
      high = std::isnan(high) ? value : std::max(high, value);
    }
    min = Number(tensor, low);
    max = Number(tensor, high);
  }
  return {name, std::string(Name(tensor.type())), ToString(ToShape(tensor.dims())), min, max, FirstValues(tensor)};
}

std::string Summary(const Graph& graph, const TensorMap& outputs) {
  Table table({"output", "type", "shape", "min", "max", "first values"});
  table.AlignRight(3);
  table.AlignRight(4);
  for (const ValueId id : graph.outputs()) {
    const std::string& name = graph.value(id).name;
    const auto found = outputs.find(name);
    if (found != outputs.end()) table.Add(SummaryRow(name, found->second));
  }
  return table.ToText(TerminalWidth());
}

}  // namespace

Result<int> RunRun(const Arguments& arguments) {
  const auto app = MakeApp("rulerun run", "Rewrites a model as the rules say and runs it once.",
                           "rulerun run --level extended --dim batch=2 --output-dir out model.onnx");
  RunOptions options;
  std::string folder;
  AddRunOptions(*app, options);
  app->add_option("--output-dir", folder, "Write each output to FOLDER/<output>.npy instead of a summary")
      ->option_text("FOLDER");
  RULERUN_ASSIGN(const bool go_on, Parse(*app, arguments));
  if (!go_on) return 0;

  Progress progress(options.target.quiet);
  RULERUN_ASSIGN(const auto ready, GetReady(options, progress));
  progress.Say("running");
  RULERUN_ASSIGN(const TensorMap outputs, ready->executor->Run(ready->inputs));
  progress.Done();
  RULERUN_RETURN_IF_ERROR(folder.empty() ? Print(Summary(*ready->model.graph, outputs))
                                         : WriteOutputs(outputs, folder));
  return 0;
}

}  // namespace rulerun::cli
