#include "engine/report/verify.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/graph/load.h"
#include "engine/pipeline/pipeline.h"
#include "engine/report/compare_outputs.h"

namespace rulerun {
namespace {

class Verifier {
 public:
  Verifier(const Model& model, const RuleSet& rules, const Target& target, const TensorMap& inputs,
           const VerifyOptions& options)
      : model_(model), rules_(rules), target_(target), inputs_(inputs), options_(options) {
    executor_.threads = options.threads;
    executor_.channel_block = static_cast<int>(target.Lookup("nchwc_block").value_or(0));
  }

  Result<Verification> Run() {
    RULERUN_RETURN_IF_ERROR(RunOriginal());
    Verification result;
    Trace trace;
    RULERUN_ASSIGN(const TensorMap after, RunRewritten(INT64_MAX, &trace));
    for (const TraceEntry& entry : trace) result.changes = std::max(result.changes, entry.change);
    result.outputs = Compare(*model_.graph, before_, after, tolerances_);
    result.beyond = IsBeyond(result.outputs);
    if (options_.every_change) {
      for (int64_t change = 1; change <= result.changes; ++change) result.steps.push_back(After(change));
    }
    if (result.beyond) result.guilty = Search(result.changes);
    return result;
  }

 private:
  static bool IsBeyond(const std::vector<OutputDifference>& outputs) {
    return std::any_of(outputs.begin(), outputs.end(), [](const OutputDifference& output) { return output.beyond; });
  }

  Status RunOriginal() {
    RULERUN_ASSIGN(const auto executor, Executor::Prepare(*model_.graph, executor_));
    RULERUN_ASSIGN(before_, executor->Run(inputs_));
    if (!options_.tolerance) {
      RULERUN_ASSIGN(tolerances_, RoundingTolerances(*model_.graph, rules_, inputs_, before_, *executor));
      return {};
    }
    for (const auto& [name, unused] : before_) tolerances_[name] = *options_.tolerance;
    return {};
  }

  Result<TensorMap> RunRewritten(int64_t changes, Trace* trace) {
    Model model = CloneModel(model_);
    RULERUN_RETURN_IF_ERROR(RunPipeline(model, rules_, target_, KernelRegistry::Default(), trace, changes));
    RULERUN_ASSIGN(const auto executor, Executor::Prepare(*model.graph, executor_));
    return executor->Run(inputs_);
  }

  // The graph after the first `number` changes, and what the last of them was.
  VerifiedChange After(int64_t number) {
    VerifiedChange change;
    change.number = number;
    Trace trace;
    const auto outputs = RunRewritten(number, &trace);
    for (const TraceEntry& entry : trace) {
      if (entry.change != number) continue;
      change.is_pass = entry.rule.empty();
      change.rule = change.is_pass ? entry.stage : entry.rule;
      change.where = entry.where;
      if (change.node.empty()) change.node = entry.node;
      if (change.op.empty()) change.op = entry.op;
      change.sources.insert(change.sources.end(), entry.sources.begin(), entry.sources.end());
      change.created.insert(change.created.end(), entry.created.begin(), entry.created.end());
      change.faults.insert(change.faults.end(), entry.faults.begin(), entry.faults.end());
    }
    if (!outputs.ok()) {
      change.failed = outputs.error();
      return change;
    }
    change.outputs = Compare(*model_.graph, before_, *outputs, tolerances_);
    change.beyond = IsBeyond(change.outputs);
    return change;
  }

  // Bisection: good after `good` changes, beyond after `bad`. A graph that cannot be run half way says nothing; the
  // one after it is asked instead.
  VerifiedChange Search(int64_t changes) {
    int64_t good = 0;
    VerifiedChange bad = After(changes);
    while (bad.number - good > 1) {
      VerifiedChange middle = After(good + (bad.number - good) / 2);
      while (middle.failed && middle.number + 1 < bad.number) middle = After(middle.number + 1);
      if (middle.beyond) {
        bad = std::move(middle);
      } else if (middle.failed) {
        bad = FirstRunnable(good, std::move(bad));
        break;
      } else {
        good = middle.number;
      }
    }
    return bad;
  }

  // Nothing between the middle and `bad` can be run: the changes below it one by one.
  VerifiedChange FirstRunnable(int64_t good, VerifiedChange bad) {
    for (int64_t number = good + 1; number < bad.number; ++number) {
      VerifiedChange change = After(number);
      if (change.beyond) return change;
    }
    return bad;
  }

  const Model& model_;
  const RuleSet& rules_;
  const Target& target_;
  const TensorMap& inputs_;
  const VerifyOptions& options_;
  ExecutorOptions executor_;
  TensorMap before_;
  Tolerances tolerances_;
};

using nlohmann::ordered_json;

// JSON has no infinity.
ordered_json Number(double value) { return std::isfinite(value) ? ordered_json(value) : ordered_json(nullptr); }

ordered_json ToJson(const std::vector<OutputDifference>& outputs) {
  ordered_json list = ordered_json::array();
  for (const OutputDifference& output : outputs) {
    ordered_json item = {{"output", output.output},
                         {"elements", output.elements},
                         {"differing", output.differing},
                         {"max_abs", Number(output.max_abs)},
                         {"max_rel", Number(output.max_rel)},
                         {"tolerance", Number(output.tolerance)},
                         {"beyond", output.beyond}};
    if (output.beyond) item["code"] = Name(output.code);
    if (!output.problem.empty()) item["problem"] = output.problem;
    list.push_back(std::move(item));
  }
  return list;
}

ordered_json ToJson(const VerifiedChange& change) {
  ordered_json faults = ordered_json::array();
  for (const Fault& fault : change.faults) {
    faults.push_back({{"id", fault.id}, {"effect", fault.effect}, {"note", fault.note}});
  }
  ordered_json json = {{"number", change.number},
                       {change.is_pass ? "pass" : "rule", change.rule},
                       {"node", change.node},
                       {"op", change.op},
                       {"sources", change.sources},
                       {"created", change.created},
                       {"place", change.where.ToString()},
                       {"faults", std::move(faults)},
                       {"beyond", change.beyond},
                       {"outputs", ToJson(change.outputs)}};
  if (change.failed) json["failed"] = {{"code", Name(change.failed->code)}, {"message", ToString(*change.failed)}};
  return json;
}

}  // namespace

Result<Verification> Verify(const Model& model, const RuleSet& rules, const Target& target, const TensorMap& inputs,
                            const VerifyOptions& options) {
  return Verifier(model, rules, target, inputs, options).Run();
}

std::string ToJson(const Model& model, const RuleSet& rules, const Target& target, const Verification& result) {
  ordered_json json = {
      {"model", model.path},         {"rules", rules.id},           {"version", rules.version},
      {"level", Name(target.level)}, {"provider", target.provider}, {"platform", target.platform->name},
      {"changes", result.changes},   {"beyond", result.beyond},     {"outputs", ToJson(result.outputs)}};
  if (result.guilty) json["guilty"] = ToJson(*result.guilty);
  if (!result.steps.empty()) {
    json["steps"] = ordered_json::array();
    for (const VerifiedChange& step : result.steps) json["steps"].push_back(ToJson(step));
  }
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace rulerun
