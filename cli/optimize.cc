// rulerun optimize: rewrites a model and saves the result.
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/target_options.h"
#include "engine/graph/load.h"
#include "engine/graph/save.h"
#include "engine/pipeline/pipeline.h"
#include "kernels/kernel.h"

namespace rulerun::cli {

Result<int> RunOptimize(const Arguments& arguments) {
  const auto app = MakeApp("rulerun optimize", "Rewrites a model as the rules say and saves the result.",
                           "rulerun optimize --level extended --platform arm64 --output out.onnx model.onnx");
  TargetOptions options;
  std::string model_path;
  std::string output;
  app->add_option("MODEL", model_path, "ONNX file to rewrite")->required();
  app->add_option("-o,--output", output, "File to write; appears whole or not at all")->option_text("FILE")->required();
  AddTargetOptions(*app, options);
  RULERUN_ASSIGN(const bool go_on, Parse(*app, arguments));
  if (!go_on) return 0;

  Progress progress(options.quiet);
  progress.Say("reading rules");
  RULERUN_ASSIGN(const Setup setup, MakeSetup(options));
  progress.Say("reading " + model_path);
  RULERUN_ASSIGN(Model model, LoadModel(model_path, setup.rules->schemas));
  progress.Say("rewriting");
  RULERUN_RETURN_IF_ERROR(RunPipeline(model, *setup.rules, setup.target, KernelRegistry::Default(), nullptr));
  progress.Say("writing " + output);
  RULERUN_RETURN_IF_ERROR(SaveModel(model, output));
  return 0;
}

}  // namespace rulerun::cli
