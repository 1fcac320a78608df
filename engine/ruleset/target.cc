#include "engine/ruleset/target.h"

#include <charconv>

#include "engine/base/codes.h"
#include "engine/base/text.h"

namespace rulerun {
namespace {

bool InRange(int64_t value, const Gate::Item& item) { return value >= item.min && value < item.below; }

bool Holds(const Gate::Item& item, const Target& target, const Graph& graph) {
  switch (item.kind) {
    case Gate::Kind::kOpset:
      return InRange(graph.Opset(""), item);
    case Gate::Kind::kLevel:
      return InRange(static_cast<int64_t>(target.level), item);
    case Gate::Kind::kOption:
    case Gate::Kind::kFact:
      break;
  }
  const int64_t value = target.Lookup(item.name).value_or(0);
  return item.equals ? value == *item.equals : value != 0;
}

}  // namespace

std::optional<int64_t> Target::Lookup(std::string_view name) const {
  if (const auto option = options.find(std::string(name)); option != options.end()) return option->second;
  if (platform == nullptr) return std::nullopt;
  const auto fact = platform->facts.find(std::string(name));
  if (fact == platform->facts.end()) return std::nullopt;
  return fact->second;
}

std::string HostPlatform() {
#if defined(__aarch64__)
  return "arm64";
#elif defined(__x86_64__)
  return __builtin_cpu_supports("avx512f") != 0 ? "x86-64-avx512" : "x86-64-avx2";
#else
  return "x86-64-avx2";
#endif
}

Result<Target> MakeTarget(const RuleSet& rules, const std::string& platform, Level level, const std::string& provider) {
  const std::string wanted = platform.empty() || platform == "host" ? HostPlatform() : platform;
  const auto found = rules.platforms.find(wanted);
  if (found == rules.platforms.end()) {
    std::vector<std::string> names;
    for (const auto& [name, unused] : rules.platforms) names.push_back(name);
    return Error{Code::kUnknownTarget,
                 "rule set '" + rules.id + "' has no platform '" + wanted + "'" + DidYouMean(wanted, names),
                 "--platform", "platforms: " + Join(names, ", ")};
  }
  Target target;
  target.platform = &found->second;
  target.provider = provider;
  target.level = level;
  for (const auto& [name, option] : rules.options) {
    if (option.value) {
      target.options[name] = *option.value;
      continue;
    }
    const auto fact = target.platform->facts.find(name);
    target.options[name] = fact == target.platform->facts.end() ? 0 : fact->second;
  }
  return target;
}

Status SetOption(const RuleSet& rules, Target& target, const std::string& assignment) {
  const size_t equals = assignment.find('=');
  const std::string key = assignment.substr(0, equals);
  std::vector<std::string> names;
  const Option* option = nullptr;
  for (const auto& [name, candidate] : rules.options) {
    names.push_back(name);
    if (name == key || candidate.key == key) option = &candidate;
  }
  if (equals == std::string::npos) {
    return Error{Code::kBadFlagValue, "'" + assignment + "' gives no value", "--option", "write --option NAME=VALUE"};
  }
  if (option == nullptr) {
    return Error{Code::kUnknownOption, "no option '" + key + "'" + DidYouMean(key, names), "--option",
                 "options: " + Join(names, ", ")};
  }
  const std::string text = assignment.substr(equals + 1);
  int64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) {
    return Error{Code::kBadFlagValue, "option '" + key + "' takes a whole number, not '" + text + "'", "--option", ""};
  }
  if (value < option->min || value > option->max) {
    return Error{Code::kBadFlagValue, "option '" + key + "' is out of range: " + text, "--option",
                 "from " + std::to_string(option->min) + " to " + std::to_string(option->max)};
  }
  target.options[option->name] = value;
  return {};
}

bool Holds(const Gate& gate, const Target& target, const Graph& graph) {
  for (const Gate::Item& item : gate.items) {
    if (!Holds(item, target, graph)) return false;
  }
  return true;
}

bool Open(const Gate& gate_if, const Gate& gate_unless, const Target& target, const Graph& graph) {
  return Holds(gate_if, target, graph) && (gate_unless.items.empty() || !Holds(gate_unless, target, graph));
}

}  // namespace rulerun
