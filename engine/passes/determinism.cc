#include "engine/passes/determinism.h"

namespace rulerun {

Result<Determinism> Determinism::Read(const Table& table) {
  RULERUN_ASSIGN(const Table domains, table.Sub("deterministic"));
  Determinism result;
  for (const std::string& name : domains.yaml().Keys()) {
    RULERUN_ASSIGN(const Table entry, domains.Sub(name));
    Domain domain;
    domain.except = entry.Find("except") != nullptr;
    RULERUN_ASSIGN(domain.ops, entry.Ops(domain.except ? "except" : "only"));
    result.domains_[name == "ai.onnx" ? "" : name] = std::move(domain);
  }
  return result;
}

bool Determinism::Has(const Node& node) const {
  const auto domain = domains_.find(node.domain);
  if (domain == domains_.end()) return false;
  return domain->second.ops.contains(node.op_type) != domain->second.except;
}

}  // namespace rulerun
