// rulerun bench: how long a model takes, and which operators take it.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/run_options.h"
#include "cli/table.h"

namespace rulerun::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kSeconds = 1.0;  // runs for about that long
constexpr int kFewestRuns = 5;
constexpr double kMilli = 1e3;

struct BenchOptions {
  RunOptions run;
  int runs = 0;  // 0: as many as fit
  bool json = false;
  bool profile = false;
};

struct OpTime {
  std::string op;
  int nodes = 0;
  double milliseconds = 0;  // per run
};

struct Timing {
  std::vector<double> milliseconds;  // of each run, ascending
  std::vector<OpTime> ops;           // the slowest first

  double Quantile(double q) const {
    return milliseconds[static_cast<size_t>(std::lround(q * static_cast<double>(milliseconds.size() - 1)))];
  }
};

Result<double> TimeOnce(ReadyModel& ready) {
  const auto start = Clock::now();
  RULERUN_RETURN_IF_ERROR(ready.executor->Run(ready.inputs));
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

Result<std::vector<double>> TimeRuns(ReadyModel& ready, int runs) {
  RULERUN_RETURN_IF_ERROR(TimeOnce(ready));  // warms up caches and buffers
  std::vector<double> times;
  double total = 0;
  const auto enough = [&] {
    const auto done = static_cast<int>(times.size());
    return runs > 0 ? done >= runs : done >= kFewestRuns && total >= kSeconds * kMilli;
  };
  while (!enough()) {
    RULERUN_ASSIGN(const double time, TimeOnce(ready));
    times.push_back(time);
    total += time;
  }
  std::sort(times.begin(), times.end());
  return times;
}

// Watching costs a little, so these runs are apart from the ones that count.
Result<std::vector<OpTime>> Profile(ReadyModel& ready, int runs) {
  std::map<std::string, OpTime> ops;
  ready.executor->ObserveNodes([&](const Node& node, int64_t nanoseconds) {
    OpTime& time = ops[node.Op()];
    ++time.nodes;
    time.milliseconds += static_cast<double>(nanoseconds) / 1e6;
  });
  for (int i = 0; i < runs; ++i) RULERUN_RETURN_IF_ERROR(ready.executor->Run(ready.inputs));
  ready.executor->ObserveNodes({});
  std::vector<OpTime> sorted;
  for (auto& [op, time] : ops) {
    sorted.push_back({op, time.nodes / runs, time.milliseconds / runs});
  }
  std::sort(sorted.begin(), sorted.end(),
            [](const OpTime& a, const OpTime& b) { return a.milliseconds > b.milliseconds; });
  return sorted;
}

std::string Milliseconds(double time) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", time);
  return text;
}

std::string Text(const Timing& timing, int width) {
  std::string text = "min " + Milliseconds(timing.milliseconds.front()) + " ms, median " +
                     Milliseconds(timing.Quantile(0.5)) + " ms, p90 " + Milliseconds(timing.Quantile(0.9)) + " ms (" +
                     std::to_string(timing.milliseconds.size()) + " runs)\n";
  if (timing.ops.empty()) return text;
  double total = 0;
  for (const OpTime& op : timing.ops) total += op.milliseconds;
  Table table({"operator", "nodes", "ms per run", "share"});
  for (size_t i = 1; i < 4; ++i) table.AlignRight(i);
  for (const OpTime& op : timing.ops) {
    const auto percent = static_cast<int>(total > 0 ? 100 * op.milliseconds / total + 0.5 : 0);
    table.Add({op.op, std::to_string(op.nodes), Milliseconds(op.milliseconds), std::to_string(percent) + " %"});
  }
  return text + "\n" + table.ToText(width);
}

std::string Json(const BenchOptions& options, const Timing& timing) {
  using nlohmann::ordered_json;
  ordered_json json = {{"model", options.run.model},         {"threads", options.run.threads},
                       {"runs", timing.milliseconds.size()}, {"min_ms", timing.milliseconds.front()},
                       {"median_ms", timing.Quantile(0.5)},  {"p90_ms", timing.Quantile(0.9)}};
  if (!timing.ops.empty()) json["ops"] = ordered_json::array();
  for (const OpTime& op : timing.ops) {
    json["ops"].push_back({{"op", op.op}, {"nodes", op.nodes}, {"ms", op.milliseconds}});
  }
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

Result<int> RunBench(const Arguments& arguments) {
  const auto app = MakeApp("rulerun bench", "Measures how long a model takes to run.",
                           "rulerun bench --threads 1 --profile --dim batch=1 model.onnx");
  BenchOptions options;
  AddRunOptions(*app, options.run);
  app->add_option("--runs", options.runs, "How many runs count [as many as fit in a second, at least 5]")
      ->option_text("N")
      ->check(CLI::Range(1, 1000000));
  app->add_flag("--profile", options.profile, "Time per operator as well");
  app->add_flag("--json", options.json, "As JSON (schemas/bench.schema.json)");
  RULERUN_ASSIGN(const bool go_on, Parse(*app, arguments));
  if (!go_on) return 0;

  Progress progress(options.run.target.quiet);
  RULERUN_ASSIGN(const auto ready, GetReady(options.run, progress));
  progress.Say("running");
  Timing timing;
  RULERUN_ASSIGN(timing.milliseconds, TimeRuns(*ready, options.runs));
  if (options.profile) {
    RULERUN_ASSIGN(timing.ops, Profile(*ready, static_cast<int>(std::min<size_t>(timing.milliseconds.size(), 20))));
  }
  progress.Done();
  RULERUN_RETURN_IF_ERROR(Print(options.json ? Json(options, timing) : Text(timing, TerminalWidth())));
  return 0;
}

}  // namespace rulerun::cli
