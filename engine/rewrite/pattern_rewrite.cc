// Rewrites of pattern rules: the `replace` block, line by line (language.md 6).
#include <algorithm>
#include <set>

#include "engine/graph/resolve.h"
#include "engine/graph/schema.h"
#include "engine/rewrite/rewrite.h"

namespace rulerun {
namespace {

class PatternRewriter {
 public:
  PatternRewriter(Binding& binding, const Rewrite& rewrite)
      : binding_(binding),
        rewrite_(rewrite),
        graph_(binding.graph()),
        matched_(binding.MatchedNodes()),
        first_made_(static_cast<ValueId>(graph_.value_count())) {
    std::vector<NodeIndex> sources;
    for (const Statement& line : binding.rule().match) {
      const auto found = binding.nodes.find(line.label);
      if (found != binding.nodes.end()) sources.push_back(found->second);
    }
    sources.insert(sources.end(), matched_.begin(), matched_.end());
    change_.sources = OriginsOf(graph_, sources);
    if (!matched_.empty()) provider_ = graph_.node(sources.front())->provider;
  }

  Result<Change> Run() {
    for (const Statement& statement : rewrite_.statements) {
      if (!FlagHolds(binding_, statement.flag)) left_out_.insert(&statement);
    }
    DrawNames();
    for (const Statement& statement : rewrite_.statements) {
      if (taken_.count(&statement) > 0) continue;
      if (statement.each) {
        RULERUN_RETURN_IF_ERROR(RunEach(statement));
      } else {
        RULERUN_RETURN_IF_ERROR(RunStatement(binding_, statement, made_, node_names_));
      }
    }
    RULERUN_RETURN_IF_ERROR(ResolveWaiting());
    for (const auto& [name, id] : made_) {
      if (id != kNoValue && graph_.value(id).initializer) StemsFrom(id, SourceOfComputed(binding_, name));
    }
    std::vector<NodeIndex> removable = matched_;
    std::erase_if(removable, [this](NodeIndex index) {
      return std::find(change_.edited.begin(), change_.edited.end(), index) != change_.edited.end();
    });
    RemoveDead(graph_, removable, change_);
    return std::move(change_);
  }

 private:
  using Made = std::map<std::string, ValueId>;
  using NodeNames = std::map<std::string, std::string>;

  // Names are drawn in the order of `names:`; what has no entry there draws its name when it is made.
  void DrawNames() {
    for (const Statement& statement : rewrite_.statements) {
      if (statement.once && left_out_.count(&statement) == 0) TakeMade(statement);
    }
    DrawNames(binding_, /*of_each=*/false, made_, node_names_);
  }

  // `once`: where the walk has made the very node already, its results stand for those of the line.
  void TakeMade(const Statement& statement) {
    const Call& call = *statement.alternatives.front().call;
    const std::vector<ValueId> inputs = Inputs(binding_, call, made_);
    if (inputs.empty() || inputs.front() == kNoValue) return;
    const auto [domain, op] = OperatorOf(binding_, call);
    AttributeMap wanted;
    SetAttributes(binding_, call,
                  FindSchema(binding_.scope().rules->schemas, domain, op, std::max(graph_.Opset(domain), 1)), wanted);
    for (const Use& use : graph_.value(inputs.front()).uses) {
      const Node& node = *graph_.node(use.node);
      if (use.node < binding_.scope().first_new || node.inputs != inputs) continue;
      if (node.domain != domain || node.op_type != op || !Includes(node.attributes, wanted)) continue;
      for (size_t i = 0; i < statement.outputs.size(); ++i) made_[statement.outputs[i].name] = node.output(i);
      taken_.insert(&statement);
      return;
    }
  }

  static bool Includes(const AttributeMap& attributes, const AttributeMap& wanted) {
    return std::all_of(wanted.begin(), wanted.end(), [&](const auto& one) {
      const auto found = attributes.find(one.first);
      return found != attributes.end() && SameAttribute(found->second, one.second);
    });
  }

  void DrawNames(Binding& binding, bool of_each, Made& made, NodeNames& node_names) {
    const NameTemplates* const lists[] = {&binding.rule().names,
                                          binding.taken_case != nullptr ? &binding.taken_case->names : nullptr};
    for (const NameTemplates* names : lists) {
      if (names == nullptr) continue;
      for (const auto& [key, unused] : *names) {
        if (IsEachName(key) != of_each) continue;
        DrawName(binding, key, made, node_names);
      }
    }
  }

  void DrawName(Binding& binding, const std::string& key, Made& made, NodeNames& node_names) {
    if (binding.IsComputed(key)) {
      if (Mentions(key)) ComputedInitializer(binding, key, made);
    } else if (IsNewLabel(key)) {
      node_names[key] = DrawNodeName(binding, key, key);
    } else if (IsNewValue(key) && made.count(key) == 0) {
      made[key] = graph_.AddValue(DrawValueName(binding, key, key));
    }
  }

  // Whether a name is written by an `each` line, in `compute` or in the replacement.
  bool IsEachName(const std::string& key) const {
    const auto writes = [&](const std::vector<Statement>& statements) {
      return std::any_of(statements.begin(), statements.end(), [&](const Statement& statement) {
        if (!statement.each) return false;
        return statement.label == key || std::any_of(statement.outputs.begin(), statement.outputs.end(),
                                                     [&](const OutputPattern& output) { return output.name == key; });
      });
    };
    if (binding_.taken_case != nullptr && writes(binding_.taken_case->compute)) return true;
    return writes(binding_.rule().compute) || (writes(rewrite_.statements) && !binding_.Declares(key));
  }

  bool Mentions(const std::string& name) const {
    return std::any_of(rewrite_.statements.begin(), rewrite_.statements.end(), [&](const Statement& statement) {
      return std::any_of(statement.alternatives.begin(), statement.alternatives.end(), [&](const Alternative& right) {
        if (!right.call) return right.value == name;
        return std::any_of(right.call->operands.begin(), right.call->operands.end(),
                           [&](const OperandPattern& operand) { return operand.name == name; });
      });
    });
  }

  bool IsNewLabel(const std::string& name) const {
    return std::any_of(rewrite_.statements.begin(), rewrite_.statements.end(), [&](const Statement& statement) {
      return statement.label == name && left_out_.count(&statement) == 0 && taken_.count(&statement) == 0;
    });
  }

  bool IsNewValue(const std::string& name) const {
    if (binding_.values.count(name) > 0) return false;
    return std::any_of(rewrite_.statements.begin(), rewrite_.statements.end(), [&](const Statement& statement) {
      return statement.kind == Statement::Kind::kCall && left_out_.count(&statement) == 0 &&
             std::any_of(statement.outputs.begin(), statement.outputs.end(),
                         [&](const OutputPattern& output) { return output.name == name; });
    });
  }

  Status RunEach(const Statement& statement) {
    size_t items = 0;
    std::vector<std::string> lists;
    for (const EachMatch& each : binding_.eaches) {
      items = std::max(items, each.nodes.size());
      for (const OutputPattern& output : each.line->outputs) lists.push_back(output.name);
      for (const Alternative& right : each.line->alternatives) {
        for (const OperandPattern& operand : right.call->operands) {
          const auto bound = binding_.values.find(operand.name);
          if (bound != binding_.values.end() && bound->second.list) lists.push_back(operand.name);
        }
      }
    }
    std::erase_if(lists, [this](const std::string& name) {
      const auto bound = binding_.values.find(name);
      return bound == binding_.values.end() || !bound->second.list;
    });
    for (size_t i = 0; i < items; ++i) {
      Binding one = binding_.Narrowed(lists, i);
      Made made = made_;
      NodeNames node_names = node_names_;
      DrawNames(one, /*of_each=*/true, made, node_names);
      RULERUN_RETURN_IF_ERROR(RunStatement(one, statement, made, node_names));
    }
    return {};
  }

  Status RunStatement(Binding& binding, const Statement& statement, Made& made, NodeNames& node_names) {
    if (left_out_.count(&statement) > 0) return LeaveOut(binding, statement, made);
    switch (statement.kind) {
      case Statement::Kind::kBypass:
        return Bypass(binding, statement.outputs.front().name, statement.alternatives.front().value, made);
      case Statement::Kind::kRename:
        return Rename(binding, statement);
      case Statement::Kind::kCall:
        break;
    }
    return MakeOrEdit(binding, statement, made, node_names);
  }

  // --- y = Op(x)

  Status MakeOrEdit(Binding& binding, const Statement& statement, Made& made, NodeNames& node_names) {
    const Call& call = *statement.alternatives.front().call;
    const Node* old = binding.NodeOf(statement.label);
    // A set of operators in the text (`Q`) means whichever of them stands there.
    const auto written = OperatorOf(binding, call);
    const bool same_op =
        old != nullptr && (IsOperator(binding.scope(), call, *old) || written == std::pair(old->domain, old->op_type));
    const auto [domain, op] = same_op ? std::pair(old->domain, old->op_type) : written;
    const OpSchema* schema = FindSchema(binding.scope().rules->schemas, domain, op, std::max(graph_.Opset(domain), 1));
    const std::vector<ValueId> inputs = Inputs(binding, call, made);
    const bool renamed = node_names.count(statement.label) > 0;
    const std::vector<ValueId> replaced = old != nullptr ? old->outputs : std::vector<ValueId>{};
    if (same_op && !renamed) {
      Node& kept = *graph_.node(old->index);
      SetAttributes(binding, call, schema, kept.attributes);
      graph_.SetInputs(kept.index, inputs);
      graph_.SetOutputs(kept.index, Outputs(binding, statement, made, kept.index));
      StemFrom(kept.outputs, replaced);
      kept.origins = change_.sources;
      change_.edited.push_back(kept.index);
      return ResolveNode(graph_, kept.index, binding.scope().rules->schemas);
    }
    Node fresh;
    fresh.domain = domain;
    fresh.op_type = op;
    fresh.provider = provider_;
    fresh.origins = change_.sources;
    if (old != nullptr) {
      fresh.name = old->name;
      fresh.doc = old->doc;
      fresh.attributes = old->attributes;
      fresh.provider = old->provider;
    }
    if (renamed) {
      fresh.name = node_names.at(statement.label);
    } else if (old == nullptr) {
      fresh.name = graph_.UniqueNodeName(op);
    }
    SetAttributes(binding, call, schema, fresh.attributes);
    fresh.inputs = inputs;
    fresh.outputs = Outputs(binding, statement, made, kNoNode, fresh.name);
    StemFrom(fresh.outputs, replaced);
    if (GiveShapes(binding, statement, fresh.outputs)) {
      change_.created.push_back(AddUntyped(binding, std::move(fresh)));
      return {};
    }
    if (Waits(fresh)) {
      waiting_.push_back(AddUntyped(binding, std::move(fresh)));
      change_.created.push_back(waiting_.back());
      return {};
    }
    auto added = AddMade(binding, std::move(fresh));
    if (!added.ok()) return added.error();
    change_.created.push_back(*added);
    return {};
  }

  // --- what new values stem from, so that reports can call them by names of the model

  void StemsFrom(ValueId made, ValueId source) {
    if (made == kNoValue || source == kNoValue || made < first_made_) return;
    change_.made_from.emplace_back(graph_.value(made).name, graph_.value(source).name);
  }

  void StemFrom(const std::vector<ValueId>& made, const std::vector<ValueId>& replaced) {
    for (size_t i = 0; i < std::min(made.size(), replaced.size()); ++i) StemsFrom(made[i], replaced[i]);
  }

  // `shapes`: true where a result begins with another value's type, and inference has to wait for the walk's end.
  bool GiveShapes(const Binding& binding, const Statement& statement, const std::vector<ValueId>& outputs) {
    bool given = false;
    for (size_t i = 0; i < std::min(statement.outputs.size(), outputs.size()); ++i) {
      const auto shape = binding.rule().shapes.find(statement.outputs[i].name);
      if (shape == binding.rule().shapes.end() || outputs[i] == kNoValue) continue;
      const auto source = binding.Operands(shape->second);
      if (!source || source->empty() || !source->front().present()) continue;
      graph_.value(outputs[i]).type = graph_.TypeOf(source->front().value);
      given = true;
    }
    return given;
  }

  // Whether the node reads what a later line writes, or what waits itself: its types come when all nodes are there.
  bool Waits(const Node& node) const {
    return std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
      if (id == kNoValue) return false;
      const Value& value = graph_.value(id);
      const bool made = std::any_of(made_.begin(), made_.end(), [&](const auto& entry) { return entry.second == id; });
      const bool waits = std::find(waiting_.begin(), waiting_.end(), value.producer) != waiting_.end();
      return waits || (made && value.producer == kNoNode && !value.initializer);
    });
  }

  Status ResolveWaiting() {
    if (waiting_.empty()) return {};
    for (const NodeIndex index : TopologicalOrder(graph_)) {
      if (std::find(waiting_.begin(), waiting_.end(), index) == waiting_.end()) continue;
      RULERUN_RETURN_IF_ERROR(ResolveNode(graph_, index, binding_.scope().rules->schemas));
    }
    return {};
  }

  // Operands as written; absent ones written `b?` end the list if nothing follows, else leave an empty slot.
  std::vector<ValueId> Inputs(Binding& binding, const Call& call, Made& made) {
    std::vector<ValueId> inputs;
    size_t kept = 0;
    for (const OperandPattern& operand : call.operands) {
      const size_t before = inputs.size();
      for (const ValueId id : InputOf(binding, operand, made)) inputs.push_back(id);
      if (inputs.size() > before && (inputs.back() != kNoValue || !operand.optional)) kept = inputs.size();
    }
    inputs.resize(kept);
    return inputs;
  }

  std::vector<ValueId> InputOf(Binding& binding, const OperandPattern& operand, Made& made) {
    if (operand.kind != OperandPattern::Kind::kName) return {kNoValue};
    if (const auto found = made.find(operand.name); found != made.end()) return {found->second};
    if (binding.IsComputed(operand.name)) {
      return {ComputedInitializer(binding, operand.name, made).value_or(kNoValue)};
    }
    if (IsWrittenLater(binding, operand.name)) {
      return {made[operand.name] = graph_.AddValue(DrawValueName(binding, operand.name, operand.name))};
    }
    const auto operands = binding.Operands(operand.name);
    if (!operands) return {kNoValue};
    std::vector<ValueId> ids;
    for (const Operand& item : *operands) ids.push_back(item.present() ? item.value : kNoValue);
    return ids;
  }

  // A new value that a line further down writes.
  bool IsWrittenLater(const Binding& binding, const std::string& name) const {
    return IsNewValue(name) && !binding.Declares(name);
  }

  // The values a line writes, taken from the nodes that wrote them so far.
  std::vector<ValueId> Outputs(Binding& binding, const Statement& statement, Made& made, NodeIndex writer,
                               const std::string& node_name = "") {
    std::vector<ValueId> outputs;
    for (const OutputPattern& output : statement.outputs) {
      const bool pattern = binding.values.count(output.name) > 0 || (output.optional && binding.Declares(output.name));
      const auto operands = pattern ? binding.Operands(output.name) : std::nullopt;
      if (operands) {
        for (const Operand& item : *operands) {
          outputs.push_back(item.present() ? item.value : kNoValue);
          if (item.present()) Release(item.value, writer);
        }
        continue;
      }
      const auto drawn = made.find(output.name);
      if (drawn != made.end()) {
        outputs.push_back(drawn->second);
        continue;
      }
      const std::string base =
          (node_name.empty() ? graph_.node(writer)->name : node_name) + "_out" + std::to_string(outputs.size());
      const ValueId id = graph_.AddValue(graph_.UniqueValueName(base));
      if (output.name != "_") made[output.name] = id;  // nobody's, and every `_` another one
      outputs.push_back(id);
    }
    while (outputs.size() > 1 && outputs.back() == kNoValue) outputs.pop_back();
    return outputs;
  }

  void Release(ValueId id, NodeIndex writer) {
    const Value& value = graph_.value(id);
    if (value.producer != kNoNode && value.producer != writer) {
      graph_.SetOutput(value.producer, value.producer_slot, kNoValue);
    }
  }

  // --- y = x: users of y read x; a graph output y is kept by a copy

  Status Bypass(Binding& binding, const std::string& result, const std::string& source, Made& made) {
    const auto from = binding.Operands(result);
    ValueId to = kNoValue;
    if (const auto found = made.find(source); found != made.end()) {
      to = found->second;
    } else if (binding.IsComputed(source)) {
      to = ComputedInitializer(binding, source, made).value_or(kNoValue);
    } else if (const auto operands = binding.Operands(source); operands && !operands->empty()) {
      to = operands->front().value;
    }
    if (!from || from->empty() || !from->front().present() || to == kNoValue) return {};
    const ValueId y = from->front().value;
    graph_.ReplaceUses(y, to);
    if (!graph_.value(y).graph_output) return {};
    Release(y, kNoNode);
    Node copy;
    copy.op_type = binding.scope().rules->vocabulary.copy;
    copy.name = DrawNodeName(binding, "copy", copy.op_type);
    copy.provider = provider_;
    copy.inputs = {to};
    copy.outputs = {y};
    copy.origins = change_.sources;
    auto added = AddMade(binding, std::move(copy));
    if (!added.ok()) return added.error();
    change_.created.push_back(*added);
    return {};
  }

  // --- y = Op(x) if flag, without the flag: y is x

  Status LeaveOut(Binding& binding, const Statement& statement, Made& made) {
    const OperandPattern& passed = statement.alternatives.front().call->operands.front();
    const std::string& result = statement.outputs.front().name;
    if (binding.values.count(result) > 0) return Bypass(binding, result, passed.name, made);
    made[result] = InputOf(binding, passed, made).front();
    return {};
  }

  // --- x => y: the producer of x writes y, every other reader of x reads y

  Status Rename(Binding& binding, const Statement& statement) {
    const auto x = binding.Operands(statement.outputs.front().name);
    const auto y = binding.Operands(statement.renamed_to);
    if (!x || !y || x->empty() || y->empty()) return {};
    const ValueId from = x->front().value;
    const ValueId to = y->front().value;
    const Node* producer = graph_.Producer(from);
    if (producer == nullptr) return {};
    Release(to, kNoNode);
    graph_.SetOutput(producer->index, graph_.value(from).producer_slot, to);
    graph_.ReplaceUses(from, to);
    return {};
  }

  Binding& binding_;
  const Rewrite& rewrite_;
  Graph& graph_;
  std::vector<NodeIndex> matched_;
  std::string provider_;
  Made made_;
  const ValueId first_made_;        // values from here on are made by this rewrite
  std::vector<NodeIndex> waiting_;  // nodes made before what they read
  NodeNames node_names_;
  std::set<const Statement*> left_out_;  // lines whose flag does not hold
  std::set<const Statement*> taken_;     // `once` lines that stand for an older node
  Change change_;
};

}  // namespace

Result<Change> ApplyPattern(Binding& binding, const Rewrite& rewrite) {
  return PatternRewriter(binding, rewrite).Run();
}

}  // namespace rulerun
