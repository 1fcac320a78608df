// What `run` and `bench` share: dimensions, inputs, threads and instruction set of a run.
#ifndef RULERUN_CLI_RUN_OPTIONS_H_
#define RULERUN_CLI_RUN_OPTIONS_H_

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cli/console.h"
#include "cli/target_options.h"
#include "engine/base/result.h"
#include "engine/graph/model.h"
#include "kernels/executor/executor.h"

namespace rulerun::cli {

struct RunOptions {
  std::string model;
  TargetOptions target;
  std::vector<std::string> inputs;  // NAME=FILE.npy
  std::vector<std::string> dims;    // NAME=SIZE
  uint64_t seed = 0;
  bool seeded = false;  // the command line says --random-seed
  int threads = 0;
  std::string simd;
};

// Adds them, MODEL and the target's options.
void AddRunOptions(CLI::App& app, RunOptions& options);

// A model as it was read, its dimensions bound, and what it would run on.
struct LoadedModel {
  Setup setup;
  Model model;
  TensorMap inputs;
};

// Reads rules and model, binds dimensions and makes the inputs.
Result<std::unique_ptr<LoadedModel>> LoadWithInputs(const RunOptions& options, Progress& progress);

// A model ready to run, and what it runs on.
struct ReadyModel {
  Model model;
  std::unique_ptr<Executor> executor;
  TensorMap inputs;
};

// Reads rules and model, binds dimensions, rewrites, prepares the kernels and makes the inputs.
Result<std::unique_ptr<ReadyModel>> GetReady(const RunOptions& options, Progress& progress);

// Those of `dims` whose names the model's inputs have.
std::vector<std::string> DimsOf(const Graph& graph, const std::vector<std::string>& dims);

// Gives the dimensions that the model calls NAME the size SIZE, in every value's shape.
Status BindDims(Graph& graph, const std::vector<std::string>& dims, const ExternalSchemas& schemas);

}  // namespace rulerun::cli

#endif  // RULERUN_CLI_RUN_OPTIONS_H_
