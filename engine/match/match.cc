#include "engine/match/match.h"

#include <algorithm>
#include <cmath>

#include "engine/base/text.h"
#include "engine/match/conditions.h"

namespace rulerun {
namespace {

bool AnchorsAt(const MatchScope& scope, const Rule& rule, const Statement& line, const Node& node) {
  return std::any_of(line.alternatives.begin(), line.alternatives.end(),
                     [&](const Alternative& alternative) {
                       return alternative.call && IsOperator(scope, *alternative.call, node);
                     }) &&
         (!rule.is_unit || node.domain.empty());
}

const Statement& AnchorLine(const Rule& rule) {
  for (const Statement& line : rule.match) {
    if (!rule.anchor.empty() && line.label == rule.anchor) return line;
  }
  return rule.match.front();
}

bool SameNumber(const Attribute& attribute, const AttrValue& wanted) {
  const double number = wanted.kind == AttrValue::Kind::kInt ? static_cast<double>(wanted.integer) : wanted.number;
  if (const auto* integer = std::get_if<int64_t>(&attribute)) return static_cast<double>(*integer) == number;
  if (const auto* real = std::get_if<float>(&attribute)) return *real == static_cast<float>(number);
  return false;
}

std::string ToText(const AttrValue& value) {
  std::vector<std::string> parts;
  switch (value.kind) {
    case AttrValue::Kind::kInt:
      return std::to_string(value.integer);
    case AttrValue::Kind::kFloat:
      return FormatDouble(value.number);
    case AttrValue::Kind::kList:
      for (const AttrValue& item : value.list) parts.push_back(ToText(item));
      return "[" + Join(parts, ", ") + "]";
    default:
      return value.text;
  }
}

bool SameWritten(const Attribute& attribute, const AttrValue& wanted) {
  switch (wanted.kind) {
    case AttrValue::Kind::kInt:
    case AttrValue::Kind::kFloat:
      return SameNumber(attribute, wanted);
    case AttrValue::Kind::kString: {
      const auto* text = std::get_if<std::string>(&attribute);
      return text != nullptr && *text == wanted.text;
    }
    case AttrValue::Kind::kName: {
      const auto type = ParseDataType(wanted.text);
      const auto* integer = std::get_if<int64_t>(&attribute);
      return type && integer != nullptr && *integer == static_cast<int64_t>(*type);
    }
    case AttrValue::Kind::kList: {
      const auto* list = std::get_if<std::vector<int64_t>>(&attribute);
      return list != nullptr && std::equal(list->begin(), list->end(), wanted.list.begin(), wanted.list.end(),
                                           [](int64_t a, const AttrValue& b) { return a == b.integer; });
    }
    default:
      return false;
  }
}

}  // namespace

bool InOpSet(const MatchScope& scope, std::string_view set, const Node& node) {
  const auto found = scope.rules->vocabulary.op_sets.find(std::string(set));
  if (found == scope.rules->vocabulary.op_sets.end()) return false;
  return std::find(found->second.begin(), found->second.end(), node.Op()) != found->second.end();
}

bool IsOperator(const MatchScope& scope, const Call& call, const Node& node) {
  return std::any_of(call.ops.begin(), call.ops.end(), [&](const std::string& op) {
    const size_t dot = op.rfind('.');
    const bool same_domain = dot == std::string::npos ? node.domain.empty() : op.compare(0, dot, node.domain) == 0;
    if (same_domain && op.compare(dot + 1, std::string::npos, node.op_type) == 0) return true;
    return dot == std::string::npos && InOpSet(scope, op, node);
  });
}

bool ProviderFits(const MatchScope& scope, const Rule& rule, const Node& node) {
  const std::vector<std::string>& allowed = rule.providers.empty() ? scope.providers : rule.providers;
  if (allowed.empty()) return true;
  return std::any_of(allowed.begin(), allowed.end(), [&](const std::string& provider) {
    return provider == "any" || (provider == "none" ? node.provider.empty() : provider == node.provider);
  });
}

bool MayAnchor(const MatchScope& scope, const Rule& rule, const Node& node) {
  return AnchorsAt(scope, rule, AnchorLine(rule), node);
}

bool AttributesFit(const Call& call, const Node& node) {
  return std::all_of(call.attributes.begin(), call.attributes.end(), [&](const AttrPattern& pattern) {
    const AttrValue& wanted = pattern.values.front();
    if (wanted.kind == AttrValue::Kind::kCapture) return true;
    const auto found = node.attributes.find(pattern.name);
    if (found != node.attributes.end()) return SameWritten(found->second, wanted);
    return wanted.kind == AttrValue::Kind::kInt && wanted.integer == 0;
  });
}

std::optional<Refusal> BindAttributes(Binding& binding, const Call& call, const Node& node) {
  for (const AttrPattern& pattern : call.attributes) {
    const auto found = node.attributes.find(pattern.name);
    const bool there = found != node.attributes.end();
    const AttrValue& wanted = pattern.values.front();
    if (wanted.kind == AttrValue::Kind::kCapture) {
      if (!there && !wanted.optional) {
        return Refusal{"attributes", "'" + node.name + "' has no attribute " + pattern.name, pattern.where, {}, "", ""};
      }
      binding.captures[wanted.text] = there ? std::optional<Attribute>(found->second) : std::nullopt;
      continue;
    }
    if (there && SameWritten(found->second, wanted)) continue;
    const std::string actual = there ? ToString(found->second) : "not given";
    return Refusal{"attributes",
                   "attribute " + pattern.name + " of '" + node.name + "' is " + actual + ", wanted " + ToText(wanted),
                   pattern.where,
                   {},
                   "",
                   ""};
  }
  return std::nullopt;
}

MatchResult Conclude(Binding binding) {
  const Rule& rule = binding.rule();
  binding.AddCompute(rule.compute);
  MatchResult result;
  if (auto refusal = FirstRefusal(binding, rule.conditions)) {
    result.kind = MatchResult::Kind::kRefused;
    result.refusal = std::move(*refusal);
    return result;
  }
  const Rewrite* rewrite = &rule.rewrite;
  if (!rule.cases.empty()) {
    std::optional<Refusal> first;
    const Case* const settled = binding.taken_case;  // its lines were part of the search
    for (const Case& one : rule.cases) {
      if (settled != nullptr && &one != settled) continue;
      Binding attempt = binding;
      attempt.taken_case = &one;
      attempt.AddCompute(one.compute);
      auto refusal = FirstRefusal(attempt, one.conditions);
      if (!refusal) {
        binding = std::move(attempt);
        if (one.rewrite.kind != Rewrite::Kind::kNone) rewrite = &one.rewrite;
        first.reset();
        break;
      }
      if (!first) first = std::move(refusal);
    }
    if (first) {
      result.kind = MatchResult::Kind::kRefused;
      result.refusal = std::move(*first);
      if (rule.cases.size() > 1 && settled == nullptr) {
        result.refusal.check = "cases";
        result.refusal.message = "none of the cases applies; the first: " + result.refusal.message;
      }
      return result;
    }
  }
  if (rewrite->kind == Rewrite::Kind::kError) {
    result.kind = MatchResult::Kind::kError;
    result.refusal = {"error", binding.Expand(rewrite->error), rewrite->where, {}, "", ""};
  } else if (rewrite->kind == Rewrite::Kind::kRefuse) {
    result.kind = MatchResult::Kind::kRefused;
    result.final = true;
    result.refusal = {"cases", binding.Expand(rewrite->error), rewrite->where, {}, "", ""};
    return result;
  } else {
    result.kind = MatchResult::Kind::kMatched;
  }
  result.binding = std::move(binding);
  return result;
}

MatchResult MatchRule(const MatchScope& scope, const Rule& rule, NodeIndex node) {
  if (!Open(rule.gate_if, rule.gate_unless, *scope.target, *scope.graph)) return {};
  if (!MayAnchor(scope, rule, *scope.graph->node(node))) return {};
  return rule.is_unit ? MatchUnit(scope, rule, node) : MatchPattern(scope, rule, node);
}

}  // namespace rulerun
