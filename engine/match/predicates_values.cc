// Predicates about values: constness, uses, ranks, shapes, element types.
#include <algorithm>
#include <set>

#include "engine/base/text.h"
#include "engine/match/predicates_impl.h"
#include "engine/match/shapes.h"

namespace rulerun {

Truth IsScalar(const std::optional<Shape>& shape) {
  if (!shape) return Truth::kUnknown;
  if (shape->empty()) return Truth::kTrue;
  if (shape->size() > 1) return Truth::kFalse;
  return ToTruth(shape->front().known() && shape->front().size == 1);
}

namespace predicates {
namespace {

// Names that stand for computed values count as constants where they have a value.
Truth ComputedIsKnown(Call& call, const std::string& name) {
  if (!call.binding.IsComputed(name)) return Truth::kTrue;
  return ToTruth(call.binding.ConstantOf(name).state != Computed::State::kUnknown);
}

Truth Constant(Call& call) {
  for (const std::string& name : call.condition.values) {
    if (ComputedIsKnown(call, name) != Truth::kTrue) return Truth::kFalse;
  }
  const Graph& graph = call.binding.graph();
  return OverOperands(call, call.condition.values, [&](const Operand& operand, const std::string&) {
    if (graph.Constant(operand.value) != nullptr) return Truth::kTrue;
    const Node* producer = graph.Producer(operand.value);
    const bool overridable = graph.Initializer(operand.value) != nullptr;
    call.actual = NameOf(call, operand) + (overridable           ? " is an initializer that a graph input may override"
                                           : producer != nullptr ? " is computed by '" + producer->name + "'"
                                                                 : " is given at run time");
    return Truth::kFalse;
  });
}

Truth Local(Call& call) {
  return OverOperands(call, call.condition.values, [&](const Operand& operand, const std::string&) {
    call.actual = NameOf(call, operand) + " is none";
    return ToTruth(call.binding.graph().LocalConstant(operand.value) != nullptr);
  });
}

Truth Initializer(Call& call) {
  return OverOperands(call, call.condition.values, [&](const Operand& operand, const std::string&) {
    call.actual = NameOf(call, operand) + " is none";
    return ToTruth(call.binding.graph().Initializer(operand.value) != nullptr);
  });
}

bool IsThere(const Call& call, const std::string& name) {
  if (call.binding.IsComputed(name)) return call.binding.ConstantOf(name).state != Computed::State::kAbsent;
  if (const auto capture = call.binding.captures.find(name); capture != call.binding.captures.end()) {
    return capture->second.has_value();
  }
  const auto operands = call.binding.Operands(name);
  return operands && !operands->empty() && operands->front().present();
}

Truth Present(Call& call) {
  for (const std::string& name : call.condition.values) {
    if (IsThere(call, name)) continue;
    // Of a member: what lacks it.
    const size_t dot = name.rfind('.');
    call.actual = dot == std::string::npos
                      ? name + " is not there"
                      : Describe(call.binding, name.substr(0, dot)) + " has no " + name.substr(dot + 1);
    return Truth::kFalse;
  }
  return Truth::kTrue;
}

Truth Absent(Call& call) {
  for (const std::string& name : call.condition.values) {
    call.actual = Describe(call.binding, name) + " is there";
    if (IsThere(call, name)) return Truth::kFalse;
  }
  return Truth::kTrue;
}

Truth Scalar(Call& call) {
  return OverOperands(call, call.condition.values, [&](const Operand& operand, const std::string&) {
    const auto& shape = ShapeOf(call, operand);
    if (shape) call.actual = NameOf(call, operand) + " has shape " + ToString(*shape);
    call.wanted = "[] or [1]";
    return IsScalar(shape);
  });
}

Truth OneElement(Call& call) {
  return OverOperands(call, call.condition.values, [&](const Operand& operand, const std::string&) {
    const auto& shape = ShapeOf(call, operand);
    const auto dims = Static(shape);
    if (shape) call.actual = NameOf(call, operand) + " has shape " + ToString(*shape);
    return dims ? ToTruth(ElementCount(*dims) == 1) : Truth::kUnknown;
  });
}

Truth StaticShape(Call& call) {
  return OverOperands(call, call.condition.values, [&](const Operand& operand, const std::string&) {
    const auto& shape = ShapeOf(call, operand);
    call.actual = NameOf(call, operand) + " has " + (shape ? "shape " + ToString(*shape) : "an unknown shape");
    return ToTruth(Static(shape).has_value());
  });
}

Truth KnownDim(Call& call) {
  for (const std::string& name : call.condition.values) {
    const auto dim = call.binding.dims.find(name);
    call.actual = name + " is not";
    if (dim != call.binding.dims.end() && !dim->second.known()) return Truth::kFalse;
    if (dim == call.binding.dims.end() && !IsThere(call, name)) return Truth::kFalse;
  }
  return Truth::kTrue;
}

Truth Rank(Call& call) {
  return OverPairs(call, [&](const Operand& operand, const std::string&, const Yaml& wanted) {
    const auto& shape = ShapeOf(call, operand);
    if (!shape) return Truth::kUnknown;
    call.actual = NameOf(call, operand) + " has rank " + std::to_string(shape->size());
    call.wanted = wanted.scalar;
    return ToTruth(static_cast<int64_t>(shape->size()) == wanted.AsInt());
  });
}

Truth MinRank(Call& call) {
  return OverPairs(call, [&](const Operand& operand, const std::string&, const Yaml& wanted) {
    const auto& shape = ShapeOf(call, operand);
    call.wanted = wanted.scalar;
    if (!shape) return Truth::kUnknown;
    call.actual = NameOf(call, operand) + " has rank " + std::to_string(shape->size());
    return ToTruth(static_cast<int64_t>(shape->size()) >= wanted.AsInt().value_or(0));
  });
}

std::optional<int64_t> RankOf(const Call& call, const std::string& name) {
  const auto operands = call.binding.Operands(name);
  if (!operands || operands->empty() || !operands->front().present()) return std::nullopt;
  const auto& shape = ShapeOf(call, operands->front());
  return shape ? std::optional<int64_t>(static_cast<int64_t>(shape->size())) : std::nullopt;
}

Truth CompareRanks(Call& call, int64_t difference) {
  const auto a = RankOf(call, call.condition.values[0]);
  const auto b = RankOf(call, call.condition.values[1]);
  if (!a || !b) return Truth::kUnknown;
  call.actual = "ranks " + std::to_string(*a) + " and " + std::to_string(*b);
  return ToTruth(*a == *b - difference);
}

// Dimension by dimension: the same size, or the same symbol.
Truth SameShape(Call& call) {
  const Shape* first = nullptr;
  for (const std::string& name : call.condition.values) {
    const auto operands = call.binding.Operands(name);
    if (!operands || operands->empty() || !operands->front().present()) return Truth::kTrue;
    const auto& shape = ShapeOf(call, operands->front());
    if (!shape) return Truth::kUnknown;
    if (first == nullptr) first = &*shape;
    call.actual = "shapes " + ToString(*first) + " and " + ToString(*shape);
    if (first->size() != shape->size()) return Truth::kFalse;
    for (size_t i = 0; i < shape->size(); ++i) {
      if (!(*first)[i].Equals((*shape)[i])) return Truth::kFalse;
    }
  }
  return Truth::kTrue;
}

Truth RankAtMost(Call& call) {
  return OverPairs(call, [&](const Operand& operand, const std::string&, const Yaml& wanted) {
    const auto& shape = ShapeOf(call, operand);
    const auto limit = RankOf(call, wanted.scalar);
    call.wanted = Describe(call.binding, wanted.scalar);
    if (!shape || !limit) return Truth::kUnknown;
    call.actual = "ranks " + std::to_string(shape->size()) + " and " + std::to_string(*limit);
    return ToTruth(static_cast<int64_t>(shape->size()) <= *limit);
  });
}

Truth ShapeIs(Call& call) {
  return OverPairs(call, [&](const Operand& operand, const std::string&, const Yaml& wanted) {
    const auto& shape = ShapeOf(call, operand);
    const auto names = wanted.IsSequence() && wanted.items.empty()
                           ? std::vector<std::string>{}
                           : wanted.AsNames().value_or(std::vector<std::string>{});
    call.wanted = "[" + Join(names, ", ") + "]";
    if (!shape) return Truth::kUnknown;
    call.actual = NameOf(call, operand) + " has shape " + ToString(*shape);
    std::vector<DimPattern> dims;
    for (const std::string& dim : names) dims.push_back(ParseDim(dim));
    return MatchShape(call.binding, dims, *shape);
  });
}

bool InSet(const Call& call, DataType type, const Yaml& wanted) {
  const auto& sets = call.binding.scope().file->sets;
  if (wanted.IsMap()) {
    const Yaml* excluded = wanted.Get("not");
    return excluded != nullptr && !InSet(call, type, *excluded);
  }
  const auto names = wanted.AsNames();
  if (!names) return false;
  return std::any_of(names->begin(), names->end(), [&](const std::string& name) {
    if (const auto set = sets.find(name); set != sets.end()) return set->second.Has(type);
    return ParseDataType(name) == type;
  });
}

// The types of a set, spelled out where the file gives it a name.
std::string TypesText(const Call& call, const Yaml& wanted) {
  if (wanted.IsMap()) {
    const Yaml* excluded = wanted.Get("not");
    return excluded == nullptr ? "" : "a type that is not " + TypesText(call, *excluded);
  }
  const auto& sets = call.binding.scope().file->sets;
  std::vector<std::string> names;
  for (const std::string& name : wanted.AsNames().value_or(std::vector<std::string>{})) {
    const auto set = sets.find(name);
    names.push_back(set == sets.end() ? name : ToString(set->second));
  }
  return Join(names, " or ");
}

Truth TypeIs(Call& call) {
  Truth all = Truth::kTrue;
  for (const auto& [name, wanted] : call.condition.pairs) {
    if (call.binding.IsComputed(name)) {
      const Computed value = call.binding.ConstantOf(name);
      if (value.state == Computed::State::kAbsent) continue;
      all = And(all, value.state == Computed::State::kKnown ? ToTruth(InSet(call, value.tensor.type(), wanted))
                                                            : Truth::kUnknown);
    }
  }
  return And(all, OverPairs(call, [&](const Operand& operand, const std::string&, const Yaml& wanted) {
               const DataType type = call.binding.graph().TypeOf(operand.value).element;
               if (type == DataType::kUndefined) return Truth::kUnknown;
               if (InSet(call, type, wanted)) return Truth::kTrue;
               call.actual = NameOf(call, operand) + " is " + std::string(Name(type));
               call.wanted = TypesText(call, wanted);
               return Truth::kFalse;
             }));
}

Truth GraphOutput(Call& call) {
  return OverOperands(call, call.condition.values, [&](const Operand& operand, const std::string&) {
    call.actual = NameOf(call, operand) + " is none";
    return ToTruth(call.binding.graph().value(operand.value).graph_output);
  });
}

Truth Internal(Call& call) {
  return OverOperands(call, call.condition.values, [&](const Operand& operand, const std::string&) {
    call.actual = NameOf(call, operand) + " is one";
    return ToTruth(!call.binding.graph().value(operand.value).graph_output);
  });
}

Truth Produced(Call& call) {
  return OverOperands(call, call.condition.values, [&](const Operand& operand, const std::string&) {
    call.actual = NameOf(call, operand) + " is not";
    return ToTruth(call.binding.graph().Producer(operand.value) != nullptr);
  });
}

Truth Uses(Call& call) {
  return OverPairs(call, [&](const Operand& operand, const std::string&, const Yaml& wanted) {
    const int uses = call.binding.graph().UseCount(operand.value);
    call.actual = NameOf(call, operand) + " is read " + std::to_string(uses) + " times";
    call.wanted = wanted.scalar;
    return ToTruth(uses == wanted.AsInt());
  });
}

// Nodes of this graph that read a value; readers in an enclosing graph do not count.
int64_t UserCount(const Graph& graph, ValueId id) {
  std::set<NodeIndex> users;
  for (const Use& use : graph.value(id).uses) users.insert(use.node);
  return static_cast<int64_t>(users.size());
}

// {a: [Gemm]}: the operators of all nodes that read the value.
Truth ReadBy(Call& call) {
  return OverPairs(call, [&](const Operand& operand, const std::string&, const Yaml& wanted) {
    const Graph& graph = call.binding.graph();
    const auto names = wanted.AsNames().value_or(std::vector<std::string>{});
    for (const Use& use : graph.value(operand.value).uses) {
      const Node& reader = *graph.node(use.node);
      const bool fits = std::find(names.begin(), names.end(), reader.Op()) != names.end();
      if (fits && static_cast<size_t>(use.slot) < reader.inputs.size()) continue;
      call.actual = NameOf(call, operand) + " is read by '" + reader.name + "' (" + reader.Op() + ")";
      call.wanted = Choice(wanted);
      return Truth::kFalse;
    }
    return Truth::kTrue;
  });
}

// {a: [Gemm]}: some node that reads the value has one of these operators.
Truth Feeds(Call& call) {
  return OverPairs(call, [&](const Operand& operand, const std::string&, const Yaml& wanted) {
    const Graph& graph = call.binding.graph();
    const auto names = wanted.AsNames().value_or(std::vector<std::string>{});
    const std::vector<Use>& uses = graph.value(operand.value).uses;
    const bool fed = std::any_of(uses.begin(), uses.end(), [&](const Use& use) {
      return std::find(names.begin(), names.end(), graph.node(use.node)->Op()) != names.end();
    });
    call.actual = NameOf(call, operand) + " feeds none of them";
    call.wanted = Choice(wanted);
    return ToTruth(fed);
  });
}

// {x: [Cast]}: the operator of the node that writes the value.
Truth MadeBy(Call& call) {
  return OverPairs(call, [&](const Operand& operand, const std::string&, const Yaml& wanted) {
    const Node* producer = call.binding.graph().Producer(operand.value);
    const auto names = wanted.AsNames().value_or(std::vector<std::string>{});
    call.actual = NameOf(call, operand) + " comes from " +
                  (producer == nullptr ? "no node" : "'" + producer->name + "' (" + producer->Op() + ")");
    call.wanted = Choice(wanted);
    return ToTruth(producer != nullptr && std::find(names.begin(), names.end(), producer->Op()) != names.end());
  });
}

// {x: [MatMul, MatMul, Shape...]}: a reader for each name, and for one with dots any number.
Truth Readers(Call& call) {
  return OverPairs(call, [&](const Operand& operand, const std::string&, const Yaml& wanted) {
    const Graph& graph = call.binding.graph();
    std::multiset<std::string> open;
    std::set<std::string> any_number;
    for (const std::string& name : wanted.AsNames().value_or(std::vector<std::string>{})) {
      if (EndsWith(name, "...")) {
        any_number.insert(name.substr(0, name.size() - 3));
      } else {
        open.insert(name);
      }
    }
    call.wanted = Choice(wanted);
    NodeIndex last = kNoNode;
    for (const Use& use : graph.value(operand.value).uses) {
      if (use.node == last) continue;
      last = use.node;
      const std::string op = graph.node(use.node)->Op();
      if (any_number.count(op) > 0) continue;
      const auto found = open.find(op);
      call.actual = NameOf(call, operand) + " is read by '" + graph.node(use.node)->name + "' (" + op + ")";
      if (found == open.end()) return Truth::kFalse;
      open.erase(found);
    }
    if (!open.empty()) call.actual = "no " + *open.begin() + " reads " + NameOf(call, operand);
    return ToTruth(open.empty());
  });
}

Truth Users(Call& call) {
  return OverPairs(call, [&](const Operand& operand, const std::string&, const Yaml& wanted) {
    const int64_t users = UserCount(call.binding.graph(), operand.value);
    call.actual = NameOf(call, operand) + " has " + std::to_string(users) + " readers";
    call.wanted = wanted.scalar;
    return ToTruth(users == wanted.AsInt());
  });
}

Truth Count(Call& call) {
  Truth all = Truth::kTrue;
  for (const auto& [name, wanted] : call.condition.pairs) {
    const auto bound = call.binding.values.find(name);
    const size_t items = bound == call.binding.values.end() ? 0 : bound->second.items.size();
    call.actual = std::to_string(items) + " match " + name;
    call.wanted = wanted.scalar;
    all = And(all, ToTruth(static_cast<int64_t>(items) == wanted.AsInt()));
  }
  return all;
}

}  // namespace

void AddValuePredicates(Table& table) {
  table["constant"] = Constant;
  table["local"] = Local;
  table["initializer"] = Initializer;
  table["present"] = Present;
  table["absent"] = Absent;
  table["scalar"] = Scalar;
  table["one_element"] = OneElement;
  table["static"] = StaticShape;
  table["known"] = KnownDim;
  table["rank"] = Rank;
  table["min_rank"] = MinRank;
  table["same_rank"] = [](Call& call) { return CompareRanks(call, 0); };
  table["same_shape"] = SameShape;
  table["read_by"] = ReadBy;
  table["feeds"] = Feeds;
  table["made_by"] = MadeBy;
  table["readers"] = Readers;
  table["one_rank_less"] = [](Call& call) { return CompareRanks(call, 1); };
  table["rank_at_most"] = RankAtMost;
  table["shape"] = ShapeIs;
  table["type"] = TypeIs;
  table["graph_output"] = GraphOutput;
  table["internal"] = Internal;
  table["produced"] = Produced;
  table["uses"] = Uses;
  table["users"] = Users;
  table["count"] = Count;
}

}  // namespace predicates
}  // namespace rulerun
