// What the trace costs, on a residual network of 12,800 nodes in QDQ form.
//
//   cmake --build build/release --target benchmarks && build/release/bench/trace_bench
//
// The counters are the answer: `trace` is the processor time of a traced run divided by that of one without a trace,
// least against least, measured in turns; `nodes` the size of the model.
#include <algorithm>
#include <ctime>
#include <memory>
#include <string>
#include <utility>

#include "benchmark/benchmark.h"
#include "engine/graph/load.h"
#include "engine/pipeline/pipeline.h"
#include "engine/ruleset/ruleset.h"
#include "engine/ruleset/target.h"
#include "kernels/register.h"

namespace rulerun {
namespace {

constexpr int kBlocks = 1422;  // of nine nodes

std::string Pair(const std::string& from, const std::string& to) {
  return "  q_" + to + " = QuantizeLinear(" + from + ", s, z)\n  " + to + " = DequantizeLinear(q_" + to + ", s, z)\n";
}

std::string Network() {
  std::string body = Pair("x", "x0");
  for (int i = 0; i < kBlocks; ++i) {
    const std::string n = std::to_string(i);
    const std::string next = std::to_string(i + 1);
    body += "  w" + n + " = DequantizeLinear(W, ws, wz)\n  b" + n + " = DequantizeLinear(B, bs, bz)\n";
    body += "  c" + n + " = Conv<pads = [0, 0, 0, 0]>(x" + n + ", w" + n + ", b" + n + ")\n  r" + n + " = Relu(c" + n +
            ")\n";
    body += Pair("r" + n, "y" + n);
    body += "  a" + n + " = Add(x" + n + ", y" + n + ")\n" + Pair("a" + n, "x" + next);
  }
  return "g (float[1, 2, 8, 8] x) => (float[1, 2, 8, 8] x" + std::to_string(kBlocks) +
         ")\n<float s = {0.02}, uint8 z = {128}, float ws = {0.01}, int8 wz = {0}, float bs = {0.0002}, int32 bz = "
         "{0}, "
         "int8[2, 2, 1, 1] W = {3, -5, 7, 9}, int32[2] B = {1, 2}>\n{\n" +
         body + "}";
}

struct Fixture {
  std::shared_ptr<const RuleSet> rules;
  KernelRegistry kernels;
  Model model;
  Target target;
};

Result<Fixture> MakeFixture() {
  Fixture fixture;
  RULERUN_ASSIGN(fixture.rules, ReadRuleSet(RULERUN_SOURCE_DIR "/rules/ort130.yaml", {RULERUN_SOURCE_DIR "/rules"}));
  RULERUN_ASSIGN(fixture.model, ParseModelText(Network(), {{"", 17}}, fixture.rules->schemas));
  RULERUN_ASSIGN(fixture.target, MakeTarget(*fixture.rules, "x86-64-avx2", Level::kAll));
  RegisterAllKernels(fixture.kernels);
  return fixture;
}

double Seconds(const Fixture& fixture, Trace* trace, benchmark::State& state) {
  Model model = CloneModel(fixture.model);
  const std::clock_t start = std::clock();
  const Status status = RunPipeline(model, *fixture.rules, fixture.target, fixture.kernels, trace);
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  if (!status.ok()) state.SkipWithError(ToString(status.error()).c_str());
  return seconds;
}

void BM_Trace(benchmark::State& state) {
  const auto fixture = MakeFixture();
  if (!fixture.ok()) return state.SkipWithError(ToString(fixture.error()).c_str());
  double plain = 1e9;
  double traced = 1e9;
  for (auto _ : state) {
    plain = std::min(plain, Seconds(*fixture, nullptr, state));
    Trace trace;
    traced = std::min(traced, Seconds(*fixture, &trace, state));
  }
  state.counters["nodes"] = 2 + 9 * kBlocks;
  state.counters["trace"] = traced / plain;
}
BENCHMARK(BM_Trace)->Unit(benchmark::kMillisecond)->Iterations(10);

}  // namespace
}  // namespace rulerun

BENCHMARK_MAIN();
