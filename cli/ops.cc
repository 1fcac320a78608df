// rulerun ops: the operators that have a kernel.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/table.h"
#include "engine/base/codes.h"
#include "engine/base/text.h"
#include "kernels/kernel.h"

namespace rulerun::cli {
namespace {

constexpr int kNoEnd = 1 << 30;

std::string FullName(const KernelDef& kernel) {
  return kernel.domain.empty() ? kernel.op_type : kernel.domain + "." + kernel.op_type;
}

std::string Versions(const KernelDef& kernel) {
  return kernel.until == kNoEnd ? std::to_string(kernel.since) + "-"
                                : std::to_string(kernel.since) + "-" + std::to_string(kernel.until);
}

std::vector<std::string> TypeNames(const std::vector<DataType>& types) {
  std::vector<std::string> names;
  for (const DataType type : types) names.emplace_back(Name(type));
  return names;
}

std::string Types(const KernelDef& kernel) {
  std::vector<std::string> inputs;
  for (const auto& types : kernel.types) inputs.push_back(types.empty() ? "any" : Join(TypeNames(types), "|"));
  const bool alike =
      std::all_of(inputs.begin(), inputs.end(), [&](const auto& types) { return types == inputs.front(); });
  return inputs.empty() ? "any" : alike ? inputs.front() : Join(inputs, ", ");
}

std::vector<const KernelDef*> Sorted(const std::vector<KernelDef>& kernels) {
  std::vector<const KernelDef*> sorted;
  for (const KernelDef& kernel : kernels) sorted.push_back(&kernel);
  std::stable_sort(sorted.begin(), sorted.end(), [](const KernelDef* a, const KernelDef* b) {
    return std::pair(a->domain, a->op_type) < std::pair(b->domain, b->op_type);
  });
  return sorted;
}

std::string Json(const std::vector<const KernelDef*>& kernels) {
  using nlohmann::ordered_json;
  ordered_json json = {{"kernels", ordered_json::array()}};
  for (const KernelDef* kernel : kernels) {
    ordered_json item = {{"op", FullName(*kernel)}, {"since", kernel->since}};
    if (kernel->until != kNoEnd) item["until"] = kernel->until;
    item["types"] = ordered_json::array();
    for (const auto& types : kernel->types) item["types"].push_back(TypeNames(types));
    json["kernels"].push_back(std::move(item));
  }
  return json.dump(2) + "\n";
}

}  // namespace

Result<int> RunOps(const Arguments& arguments) {
  const auto app =
      MakeApp("rulerun ops", "Lists the operators that 'rulerun run' has a kernel for.", "rulerun ops QLinearConv");
  std::string only;
  bool json = false;
  app->add_option("NAME", only, "Only this operator, with or without its domain");
  app->add_flag("--json", json, "As JSON (schemas/ops.schema.json)");
  RULERUN_ASSIGN(const bool go_on, Parse(*app, arguments));
  if (!go_on) return 0;

  std::vector<const KernelDef*> kernels = Sorted(KernelRegistry::Default().all());
  if (!only.empty()) {
    std::vector<std::string> names;
    for (const KernelDef* kernel : kernels) names.push_back(kernel->op_type);
    std::erase_if(kernels,
                  [&](const KernelDef* kernel) { return kernel->op_type != only && FullName(*kernel) != only; });
    if (kernels.empty()) {
      return Error{Code::kNothingNamed, "there is no kernel for '" + only + "'" + DidYouMean(only, names), "",
                   "'rulerun ops' lists all."};
    }
  }
  Table table({"operator", "versions", "types of its inputs"});
  for (const KernelDef* kernel : kernels) table.Add({FullName(*kernel), Versions(*kernel), Types(*kernel)});
  RULERUN_RETURN_IF_ERROR(Print(json ? Json(kernels) : table.ToText(TerminalWidth())));
  return 0;
}

}  // namespace rulerun::cli
