#include "cli/run_options.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <set>

#include "cli/arguments.h"
#include "engine/base/codes.h"
#include "engine/base/text.h"
#include "engine/graph/load.h"
#include "engine/graph/resolve.h"
#include "engine/graph/tensor_file.h"
#include "engine/pipeline/pipeline.h"
#include "kernels/executor/npy.h"
#include "kernels/executor/random_inputs.h"
#include "kernels/int8/targets.h"

namespace rulerun::cli {
namespace {

constexpr char kGroup[] = "Running";

Result<DimBindings> ParseDims(const std::vector<std::string>& dims) {
  DimBindings bindings;
  for (const std::string& dim : dims) {
    RULERUN_ASSIGN(const Assignment assignment, SplitAssignment("--dim", dim));
    int64_t size = -1;
    const std::string& text = assignment.value;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), size);
    if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || size < 0) {
      return Error{Code::kBadFlagValue, "'" + text + "' is no size for dimension '" + assignment.name + "'", "--dim",
                   "Write --dim NAME=SIZE with a whole number that is not negative."};
    }
    bindings[assignment.name] = size;
  }
  return bindings;
}

std::set<std::string> Symbols(const Graph& graph) {
  std::set<std::string> symbols;
  for (const ValueId id : graph.inputs()) {
    if (!graph.value(id).type.shape) continue;
    for (const Dim& dim : *graph.value(id).type.shape) {
      if (!dim.symbol.empty()) symbols.insert(dim.symbol);
    }
  }
  return symbols;
}

Status CheckSymbols(const Graph& graph, const DimBindings& bindings) {
  const std::set<std::string> known = Symbols(graph);
  const std::vector<std::string> names(known.begin(), known.end());
  for (const auto& [name, size] : bindings) {
    if (known.count(name) > 0) continue;
    return Error{Code::kUnknownInput, "no input has a dimension '" + name + "'" + DidYouMean(name, names), "--dim",
                 names.empty() ? "The model's inputs have fixed sizes." : "Dimensions: " + Join(names, ", ") + "."};
  }
  return {};
}

void Substitute(Graph& graph, const DimBindings& bindings) {
  for (size_t id = 0; id < graph.value_count(); ++id) {
    auto& shape = graph.value(static_cast<ValueId>(id)).type.shape;
    if (!shape) continue;
    for (Dim& dim : *shape) {
      const auto found = bindings.find(dim.symbol);
      if (!dim.known() && found != bindings.end()) dim = {found->second, ""};
    }
  }
  for (NodeIndex index = 0; index < graph.node_limit(); ++index) {
    if (graph.node(index) == nullptr) continue;
    for (Graph* subgraph : graph.Subgraphs(*graph.node(index))) Substitute(*subgraph, bindings);
  }
}

// Names of the inputs that a caller must give.
std::vector<std::string> NeededInputs(const Graph& graph) {
  std::vector<std::string> names;
  for (const ValueId id : graph.inputs()) {
    const Value& value = graph.value(id);
    // Rules may have left an input without readers.
    const bool read = !value.uses.empty() || value.graph_output;
    if (!value.initializer && read) names.push_back(value.name);
  }
  return names;
}

Result<TensorMap> ReadInputs(const Graph& graph, const std::vector<std::string>& inputs) {
  std::vector<std::string> names;
  for (const ValueId id : graph.inputs()) names.push_back(graph.value(id).name);
  TensorMap tensors;
  for (const std::string& input : inputs) {
    RULERUN_ASSIGN(const Assignment assignment, SplitAssignment("--input", input));
    const std::string& name = assignment.name;
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      return Error{Code::kUnknownInput, "the model has no input '" + name + "'" + DidYouMean(name, names), "--input",
                   "Inputs: " + Join(names, ", ") + "."};
    }
    const bool proto = EndsWith(assignment.value, ".pb");
    RULERUN_ASSIGN(tensors[name], proto ? ReadTensorFile(assignment.value) : ReadNpy(assignment.value));
  }
  return tensors;
}

Result<TensorMap> MakeInputs(const Graph& graph, const RunOptions& options) {
  RULERUN_ASSIGN(TensorMap given, ReadInputs(graph, options.inputs));
  std::vector<std::string> missing;
  for (const std::string& name : NeededInputs(graph)) {
    if (given.count(name) == 0) missing.push_back(name);
  }
  if (missing.empty()) return given;
  if (!given.empty() && !options.seeded) {
    return Error{Code::kMissingInput, "no value for input '" + Join(missing, "', '") + "'", "--input",
                 "Give --input " + missing.front() + "=FILE.npy, or --random-seed N to fill in the rest."};
  }
  RULERUN_ASSIGN(const DimBindings bindings, ParseDims(options.dims));
  RULERUN_ASSIGN(TensorMap inputs, RandomInputs(graph, options.seed, bindings));
  for (auto& [name, tensor] : given) inputs[name] = std::move(tensor);
  return inputs;
}

}  // namespace

void AddRunOptions(CLI::App& app, RunOptions& options) {
  app.add_option("MODEL", options.model, "ONNX file to run")->required();
  app.add_option("--input", options.inputs, "Value of an input, .npy or ONNX's .pb; without any, all are random")
      ->option_text("NAME=FILE ...")
      ->expected(1)
      ->take_all()
      ->group(kGroup);
  app.add_option("--dim", options.dims, "Size of a symbolic dimension, also for the rewriting [1 for random inputs]")
      ->option_text("NAME=SIZE ...")
      ->expected(1)
      ->take_all()
      ->group(kGroup);
  app.add_option_function<uint64_t>(
         "--random-seed",
         [&options](const uint64_t& seed) {
           options.seed = seed;
           options.seeded = true;
         },
         "Seed of random inputs [0]")
      ->option_text("N")
      ->group(kGroup);
  app.add_option("--threads", options.threads, "Threads; 0 is one per core [0]")
      ->option_text("N")
      ->check(CLI::Range(0, 1024))
      ->group(kGroup);
  app.add_option("--simd", options.simd, "Instruction set: " + Join(SupportedTargets(), ", ") + " [the best]")
      ->option_text("NAME")
      ->group(kGroup);
  AddTargetOptions(app, options.target);
}

std::vector<std::string> DimsOf(const Graph& graph, const std::vector<std::string>& dims) {
  const std::set<std::string> known = Symbols(graph);
  std::vector<std::string> own;
  std::copy_if(dims.begin(), dims.end(), std::back_inserter(own),
               [&](const std::string& dim) { return known.count(dim.substr(0, dim.find('='))) > 0; });
  return own;
}

Status BindDims(Graph& graph, const std::vector<std::string>& dims, const ExternalSchemas& schemas) {
  if (dims.empty()) return {};
  RULERUN_ASSIGN(const DimBindings bindings, ParseDims(dims));
  RULERUN_RETURN_IF_ERROR(CheckSymbols(graph, bindings));
  Substitute(graph, bindings);
  return Resolve(graph, schemas);
}

Result<std::unique_ptr<LoadedModel>> LoadWithInputs(const RunOptions& options, Progress& progress) {
  RULERUN_RETURN_IF_ERROR(options.simd.empty() ? ForceTargetFromEnvironment() : ForceTarget(options.simd));
  progress.Say("reading rules");
  auto loaded = std::make_unique<LoadedModel>();
  RULERUN_ASSIGN(loaded->setup, MakeSetup(options.target));
  progress.Say("reading " + options.model);
  const ExternalSchemas& schemas = loaded->setup.rules->schemas;
  RULERUN_ASSIGN(loaded->model, LoadModel(options.model, schemas));
  RULERUN_RETURN_IF_ERROR(BindDims(*loaded->model.graph, options.dims, schemas));
  RULERUN_ASSIGN(loaded->inputs, MakeInputs(*loaded->model.graph, options));
  return loaded;
}

Result<std::unique_ptr<ReadyModel>> GetReady(const RunOptions& options, Progress& progress) {
  RULERUN_RETURN_IF_ERROR(options.simd.empty() ? ForceTargetFromEnvironment() : ForceTarget(options.simd));
  progress.Say("reading rules");
  RULERUN_ASSIGN(const Setup setup, MakeSetup(options.target));
  progress.Say("reading " + options.model);
  auto ready = std::make_unique<ReadyModel>();
  RULERUN_ASSIGN(ready->model, LoadModel(options.model, setup.rules->schemas));
  Graph& graph = *ready->model.graph;
  RULERUN_RETURN_IF_ERROR(BindDims(graph, options.dims, setup.rules->schemas));
  progress.Say("rewriting");
  RULERUN_RETURN_IF_ERROR(RunPipeline(ready->model, *setup.rules, setup.target, KernelRegistry::Default(), nullptr));
  progress.Say("preparing kernels");
  RULERUN_ASSIGN(ready->inputs, MakeInputs(graph, options));
  ExecutorOptions executor;
  executor.threads = options.threads;
  executor.channel_block = static_cast<int>(setup.target.Lookup("nchwc_block").value_or(0));
  RULERUN_ASSIGN(ready->executor, Executor::Prepare(graph, executor));
  return ready;
}

}  // namespace rulerun::cli
