// Runs a model as it is and as rewritten, and where the outputs differ by more than rounding to int8 explains, finds
// the change of the graph that did it.
#ifndef RULERUN_ENGINE_REPORT_VERIFY_H_
#define RULERUN_ENGINE_REPORT_VERIFY_H_

#include <optional>
#include <string>
#include <vector>

#include "engine/base/codes.h"
#include "engine/graph/model.h"
#include "engine/pipeline/trace.h"
#include "engine/ruleset/ruleset.h"
#include "engine/ruleset/target.h"
#include "kernels/executor/executor.h"

namespace rulerun {

struct VerifyOptions {
  int threads = 0;
  // Largest difference of an output that is let pass. std::nullopt: what an error of one step at every quantization
  // behind an operator does to it, measured, and the rounding of floating point on top.
  std::optional<double> tolerance;
  bool every_change = false;  // compare after each change of the graph, not only where the search needs it
};

// One output, of the model as it is and of the rewritten one.
struct OutputDifference {
  std::string output;
  Code code = Code::kNumbersDiffer;  // what it is called where `beyond`
  std::string problem;               // another type or shape; "" where the numbers could be compared
  int64_t elements = 0;
  int64_t differing = 0;
  double max_abs = 0;
  double max_rel = 0;  // |difference| over the largest magnitude of the output
  double tolerance = 0;
  bool beyond = false;  // differs by more than the tolerance
};

// The graph after one change.
struct VerifiedChange {
  int64_t number = 0;  // from 1, in the order of the pipeline
  std::string rule;    // of a rule; else the pass
  bool is_pass = false;
  std::string node;                  // where it was applied
  std::string op;                    // of that node
  std::vector<std::string> sources;  // nodes of the original model
  std::vector<std::string> created;
  std::vector<Fault> faults;  // that the rule is known to have there
  Location where;
  std::vector<OutputDifference> outputs;
  std::optional<Error> failed;  // the graph could not be run
  bool beyond = false;
};

struct Verification {
  int64_t changes = 0;                    // of the graph, in all
  std::vector<OutputDifference> outputs;  // before against after
  bool beyond = false;
  std::optional<VerifiedChange> guilty;  // the first change after which an output is beyond its tolerance
  std::vector<VerifiedChange> steps;     // with every_change: all of them
};

// `model` as it was loaded, its dimensions bound; it stays as it is.
Result<Verification> Verify(const Model& model, const RuleSet& rules, const Target& target, const TensorMap& inputs,
                            const VerifyOptions& options);

// As schemas/verify.schema.json describes.
std::string ToJson(const Model& model, const RuleSet& rules, const Target& target, const Verification& result);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_REPORT_VERIFY_H_
