#include "engine/report/check/generate.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "engine/base/text.h"
#include "engine/graph/schema.h"
#include "engine/ruleset/op_names.h"
#include "engine/ruleset/type_classes.h"

namespace rulerun {
namespace {

constexpr int kOpset = 21;

// What a value of the graph has to be.
struct Spec {
  std::optional<int> rank;
  std::optional<Dims> dims;
  std::optional<DataType> type;
  std::optional<double> fill;
  bool smallest = false;  // filled with the smallest value of its type
  bool constant = false;
  bool absent = false;
  std::string same_as;
};

class Generator {
 public:
  Generator(const RuleSet& rules, const RuleFile& file, const Rule& rule, const Choice& choice)
      : rules_(rules), file_(file), rule_(rule), choice_(choice), lines_(rule.match) {
    if (choice.taken != nullptr) lines_.insert(lines_.end(), choice.taken->match.begin(), choice.taken->match.end());
  }

  std::optional<std::string> Generate() {
    if (std::any_of(lines_.begin(), lines_.end(), [](const Statement& line) { return line.each; })) return std::nullopt;
    ChooseTypes();
    Ask(rule_.conditions);
    if (choice_.taken != nullptr) Ask(choice_.taken->conditions);
    for (const Statement& line : lines_) FindAliases(line);
    for (const Statement& line : lines_) {
      if (const Call* call = CallOf(line)) AddNode(line, *call);
    }
    return Text();
  }

 private:
  // --- choices

  const Call* CallOf(const Statement& line) const {
    if (line.repeat != 0) return nullptr;  // such a node is left out
    const size_t index = std::min(choice_.alternative, line.alternatives.size() - 1);
    const Alternative& alternative = line.alternatives[index];
    return alternative.call ? &*alternative.call : nullptr;
  }

  std::string OperatorOf(const Call& call) const {
    const std::string& op = call.ops[std::min(choice_.op, call.ops.size() - 1)];
    const auto set = rules_.vocabulary.op_sets.find(op);
    return set == rules_.vocabulary.op_sets.end() || set->second.empty() ? op : set->second.front();
  }

  const OpSchema* SchemaOf(const std::string& op) const {
    const OpName name = SplitOpName(op);
    return FindSchema(rules_.schemas, name.domain, name.type, name.domain.empty() ? kOpset : 1);
  }

  // A line without a node: its result is the operand that it would pass on.
  void FindAliases(const Statement& line) {
    if (CallOf(line) != nullptr || line.outputs.empty()) return;
    const Alternative& alternative = line.alternatives[std::min(choice_.alternative, line.alternatives.size() - 1)];
    std::string passed = alternative.value;
    if (alternative.call && !alternative.call->operands.empty()) passed = alternative.call->operands.front().name;
    aliases_[line.outputs.front().name] = passed;
  }

  std::string Resolved(std::string name) const {
    for (auto alias = aliases_.find(name); alias != aliases_.end(); alias = aliases_.find(name)) name = alias->second;
    return name;
  }

  // --- types

  void ChooseTypes() {
    const TypeClasses classes(rules_, rule_.is_unit ? std::vector<Statement>{} : lines_);
    std::map<std::string, std::set<DataType>> left;     // by class
    std::map<std::string, std::string> variable_class;  // variables join classes
    std::map<std::string, std::string> joined;
    const auto root = [&](std::string name) {
      for (auto up = joined.find(name); up != joined.end(); up = joined.find(name)) name = up->second;
      return name;
    };
    const auto narrow = [&](const std::string& value, const auto& allows) {
      const std::string name = root(classes.ClassOf(value));
      auto& types = left[name];
      if (types.empty()) types = AllOf(classes.Allowed(value));
      std::erase_if(types, [&](DataType type) { return !allows(type); });
    };
    const auto visit = [&](const std::string& value, const TypePattern& pattern) {
      if (value.empty() || value == "_") return;
      values_.insert(value);
      narrow(value, [](DataType) { return true; });
      if (pattern.name.empty()) return;
      const auto set = file_.sets.find(pattern.name);
      if (const auto concrete = ParseDataType(pattern.name)) {
        narrow(value, [&](DataType type) { return type == *concrete; });
      } else if (set != file_.sets.end()) {
        narrow(value, [&](DataType type) { return set->second.Has(type); });
      } else {
        const auto [known, fresh] = variable_class.emplace(pattern.name, classes.ClassOf(value));
        const std::string a = root(known->second);
        const std::string b = root(classes.ClassOf(value));
        if (!fresh && a != b) {
          std::set<DataType> types = AllOf(left[a].empty() ? std::nullopt : std::optional(left[a]));
          const std::set<DataType> others = AllOf(left[b].empty() ? std::nullopt : std::optional(left[b]));
          std::erase_if(types, [&](DataType type) { return others.count(type) == 0; });
          joined[b] = a;
          left[a] = types;
        }
        narrow(value, [&](DataType type) { return RowsAllow(pattern.name, type); });
      }
    };
    for (const Statement& line : lines_) {
      if (const Call* call = CallOf(line)) {
        for (const OperandPattern& operand : call->operands) visit(operand.name, operand.type);
      }
      for (const OutputPattern& output : line.outputs) visit(output.name, output.type);
    }
    for (const std::string& value : values_) specs_[value].type = Preferred(left[root(classes.ClassOf(value))]);
  }

  static std::set<DataType> AllOf(const std::optional<std::set<DataType>>& types) {
    if (types) return *types;
    std::set<DataType> all;
    for (const std::string& name : DataTypeNames()) all.insert(*ParseDataType(name));
    return all;
  }

  bool RowsAllow(const std::string& variable, DataType type) const {
    if (rule_.types.empty()) return true;
    bool named = false;
    for (const TypeRow& row : rule_.types) {
      for (const auto& [name, set] : row.variables) {
        if (name != variable) continue;
        named = true;
        if (set.Has(type)) return true;
      }
    }
    return !named;
  }

  DataType Preferred(const std::set<DataType>& types) const {
    constexpr auto kOrder = std::to_array({DataType::kFloat, DataType::kUint8, DataType::kInt8, DataType::kInt32,
                                           DataType::kInt64, DataType::kBool, DataType::kFloat16, DataType::kDouble});
    if (types.count(choice_.preferred) > 0) return choice_.preferred;
    for (const DataType type : kOrder) {
      const bool code = rule_.is_unit && type == DataType::kFloat;
      if (!code && types.count(type) > 0) return type;
    }
    return types.empty() ? DataType::kFloat : *types.begin();
  }

  // --- what conditions ask for

  void Ask(const Conditions& conditions) {
    for (const Condition& condition : conditions) Ask(condition);
  }

  void Ask(const Condition& condition) {
    const std::string_view name = condition.predicate->name;
    if (name == "any" && !condition.groups.empty()) return Ask(condition.groups.front());
    if (name == "constant" || name == "local" || name == "initializer") {
      for (const std::string& value : condition.values) specs_[value].constant = true;
    } else if (name == "scalar") {
      for (const std::string& value : condition.values) specs_[value].rank = 0;
    } else if (name == "absent") {
      for (const std::string& value : condition.values) specs_[value].absent = true;
    } else if (name == "positive" || name == "power_of_two") {
      for (const std::string& value : condition.values) specs_[value].fill = 1;
    } else if (name == "type_min") {
      for (const std::string& value : condition.values) specs_[value].smallest = true;
    } else if (name == "same" || name == "same_value") {
      for (size_t i = 1; i < condition.values.size(); ++i) Same(condition.values[0], condition.values[i]);
    } else if (name == "same_qparams") {
      for (size_t i = 1; i < condition.values.size(); ++i) {
        Same(condition.values[0] + ".scale", condition.values[i] + ".scale");
        Same(condition.values[0] + ".zero_point", condition.values[i] + ".zero_point");
      }
    } else {
      AskPairs(condition);
    }
  }

  void Same(std::string a, std::string b) {
    for (; !specs_[a].same_as.empty(); a = specs_[a].same_as) {
    }
    for (; !specs_[b].same_as.empty(); b = specs_[b].same_as) {
    }
    if (a != b) specs_[b].same_as = a;
  }

  void AskPairs(const Condition& condition) {
    const std::string_view name = condition.predicate->name;
    for (const auto& [key, wanted] : condition.pairs) {
      const auto number = wanted.AsDouble();
      if ((name == "rank" || name == "min_rank") && number) specs_[key].rank = static_cast<int>(*number);
      if (name == "shape") specs_[key].dims = ShapeOf(wanted);
      if (name == "all_equal" && number) specs_[key].fill = *number;
      if (name == "equals") captured_[key] = wanted.scalar;
      if (name == "attr" && wanted.IsScalar()) attributes_[key] = wanted.scalar;
      if (name == "type") AskType(key, wanted);
    }
    const bool pair = condition.items.size() == 2 && condition.items[1].AsDouble();
    if (!pair) return;
    const double bound = *condition.items[1].AsDouble();
    if (name == "less") specs_[condition.items[0].scalar].fill = bound - 1;
    if (name == "more") specs_[condition.items[0].scalar].fill = bound + 1;
    if (name == "at_least" || name == "at_most") specs_[condition.items[0].scalar].fill = bound;
  }

  void AskType(const std::string& value, const Yaml& wanted) {
    const auto names = wanted.AsNames();
    if (!names || names->empty()) return;
    if (const auto type = ParseDataType(names->front())) specs_[value].type = *type;
  }

  Dims ShapeOf(const Yaml& shape) const {
    Dims dims;
    for (const Yaml& item : shape.items) {
      if (EndsWith(item.scalar, "...")) continue;
      dims.push_back(item.AsInt().value_or(1));
    }
    return dims;
  }

  Dims ShapeOf(const std::vector<DimPattern>& shape) const {
    Dims dims;
    for (const DimPattern& dim : shape) {
      if (!dim.repeated) dims.push_back(dim.kind == DimPattern::Kind::kSize ? dim.size : 1);
    }
    // "..." takes what is left of the common rank.
    const bool open = std::any_of(shape.begin(), shape.end(), [](const DimPattern& dim) { return dim.repeated; });
    while (open && static_cast<int>(dims.size()) < choice_.rank) dims.push_back(1);
    return dims;
  }

  // --- nodes

  void AddNode(const Statement& line, const Call& call) {
    const std::string op = OperatorOf(call);
    const OpSchema* schema = SchemaOf(op);
    std::vector<std::string> operands;
    for (size_t slot = 0; slot < call.operands.size(); ++slot) {
      const OperandPattern& operand = call.operands[slot];
      if (operand.kind == OperandPattern::Kind::kAny && operand.repeated) break;
      operands.push_back(OperandOf(operand, schema, slot));
    }
    while (!operands.empty() && operands.back().empty()) operands.pop_back();
    std::vector<std::string> outputs;
    for (const OutputPattern& output : line.outputs) {
      const bool unnamed = output.name == "_";
      outputs.push_back(unnamed ? "free" + std::to_string(++fresh_) : Identifier(output.name));
      if (!unnamed) written_.insert(Resolved(output.name));
    }
    std::string result = Join(outputs, ", ");
    const bool quantized = line.quantized == Statement::Quantized::kYes;
    if (quantized) result = outputs.front() + "_real";
    nodes_.push_back(result + " = " + op + Attributes(line, call, schema) + "(" + Join(operands, ", ") + ")");
    if (quantized) {
      nodes_.push_back(outputs.front() + " = " + rules_.vocabulary.op_sets.at("Q").front() + "(" + result + ", " +
                       Parameters(line.outputs.front().name) + ")");
    }
  }

  static std::string Identifier(std::string name) {
    std::replace(name.begin(), name.end(), '.', '_');
    return name;
  }

  std::string OperandOf(const OperandPattern& operand, const OpSchema* schema, size_t slot) {
    if (operand.kind == OperandPattern::Kind::kNumber) {
      std::string name = "number" + std::to_string(++fresh_);
      constants_.push_back("float " + name + " = {" + FormatDouble(operand.number) + "}");
      return name;
    }
    if (operand.optional && (!choice_.optionals || specs_[operand.name].absent)) return "";
    if (operand.kind == OperandPattern::Kind::kAny) {
      const std::string name = "free" + std::to_string(++fresh_);
      specs_[name].type = SlotType(schema, slot);
      return Outer(name, operand.type);
    }
    if (operand.kind != OperandPattern::Kind::kDequantized) return Outer(operand.name, operand.type);
    std::string real = Identifier(operand.name) + "_real";
    nodes_.push_back(real + " = " + rules_.vocabulary.op_sets.at("DQ").front() + "(" +
                     Outer(operand.name, operand.type) + ", " + Parameters(operand.name) + ")");
    return real;
  }

  static DataType SlotType(const OpSchema* schema, size_t slot) {
    if (schema == nullptr || schema->inputs.empty()) return DataType::kFloat;
    const FormalParameter& formal = schema->inputs[std::min(slot, schema->inputs.size() - 1)];
    const auto constraint = schema->types.find(formal.type);
    if (constraint == schema->types.end()) return ParseDataType(formal.type).value_or(DataType::kFloat);
    const std::vector<DataType>& types = constraint->second;
    const bool has_float = std::find(types.begin(), types.end(), DataType::kFloat) != types.end();
    return has_float || types.empty() ? DataType::kFloat : types.front();
  }

  // Scale and zero point of a quantized value, as constants.
  std::string Parameters(const std::string& value) {
    Spec& scale = specs_[value + ".scale"];
    Spec& zero = specs_[value + ".zero_point"];
    scale.constant = zero.constant = true;
    if (!scale.type) scale.type = DataType::kFloat;
    if (!scale.rank) scale.rank = 0;
    zero.type = specs_[value].type;
    if (!zero.rank) zero.rank = 0;
    if (!zero.fill) zero.fill = 0;
    return Outer(value + ".scale", {}) + ", " + Outer(value + ".zero_point", {});
  }

  // A value of the graph that a node reads; declared once, unless a line writes it.
  std::string Outer(const std::string& written, const TypePattern& pattern) {
    std::string name = Resolved(written);
    for (std::set<std::string> seen; !specs_[name].same_as.empty() && seen.insert(name).second;) {
      name = Resolved(specs_[name].same_as);
    }
    const Spec& spec = specs_[name];
    std::string identifier = Identifier(name);
    const bool made = std::any_of(lines_.begin(), lines_.end(), [&](const Statement& line) {
      return CallOf(line) != nullptr && std::any_of(line.outputs.begin(), line.outputs.end(),
                                                    [&](const OutputPattern& output) { return output.name == name; });
    });
    read_.insert(name);
    if (made || !declared_.insert(name).second) return identifier;
    const Dims dims = DimsOf(spec, pattern);
    std::vector<std::string> sizes;
    int64_t count = 1;
    for (const int64_t dim : dims) {
      sizes.push_back(std::to_string(dim));
      count *= dim;
    }
    const DataType type = spec.type.value_or(DataType::kFloat);
    const std::string declaration =
        std::string(Name(type)) + (dims.empty() ? "" : "[" + Join(sizes, ",") + "]") + " " + identifier;
    if (!spec.constant) {
      inputs_.push_back(declaration);
      return identifier;
    }
    double fill = spec.fill.value_or(1);
    if (spec.smallest && RangeOf(type)) fill = static_cast<double>(RangeOf(type)->min);
    constants_.push_back(declaration + " = {" +
                         Join(std::vector<std::string>(static_cast<size_t>(count), FormatDouble(fill)), ", ") + "}");
    return identifier;
  }

  Dims DimsOf(const Spec& spec, const TypePattern& pattern) const {
    if (spec.dims) return *spec.dims;
    if (pattern.shape) return ShapeOf(*pattern.shape);
    return Dims(static_cast<size_t>(spec.rank.value_or(choice_.rank)), 1);
  }

  // --- attributes

  std::string Attributes(const Statement& line, const Call& call, const OpSchema* schema) const {
    std::map<std::string, std::string> values;
    for (const AttrPattern& attribute : call.attributes) {
      const AttrValue& value = attribute.values.front();
      if (value.kind == AttrValue::Kind::kCapture) {
        const auto asked = captured_.find(value.text);
        if (asked != captured_.end()) values[attribute.name] = asked->second;
        if (asked == captured_.end() && !value.optional && NeedsValue(schema, attribute.name)) {
          values[attribute.name] = DefaultOf(schema, attribute.name);
        }
      } else {
        values[attribute.name] = Written(value);
      }
    }
    const std::string label = rule_.is_unit ? "op" : line.label;
    for (const auto& [name, value] : attributes_) {
      if (label.empty() || !StartsWith(name, label + ".")) continue;
      const std::string attribute = name.substr(label.size() + 1);
      const bool known = schema != nullptr && schema->attributes.count(attribute) > 0;
      if (known && value != "any") values[attribute] = Quoted(schema, attribute, value);
    }
    if (schema != nullptr) {
      for (const auto& [name, attribute] : schema->attributes) {
        if (attribute.required && values.count(name) == 0) values[name] = DefaultOf(schema, name);
      }
    }
    std::vector<std::string> parts;
    for (const auto& [name, value] : values) {
      parts.push_back(name);
      parts.back().append(" = ").append(value);
    }
    return parts.empty() ? "" : "<" + Join(parts, ", ") + ">";
  }

  static bool NeedsValue(const OpSchema* schema, const std::string& name) {
    if (schema == nullptr) return false;
    const auto found = schema->attributes.find(name);
    return found != schema->attributes.end() && !found->second.default_value;
  }

  // A value of the attribute's kind; 1 also is the number of the type float.
  static std::string DefaultOf(const OpSchema* schema, const std::string& name) {
    const auto found = schema->attributes.find(name);
    switch (found == schema->attributes.end() ? AttributeSchema::Kind::kInt : found->second.kind) {
      case AttributeSchema::Kind::kFloat:
        return "1.0";
      case AttributeSchema::Kind::kString:
        return "\"\"";
      case AttributeSchema::Kind::kInts:
        return "[1, 1]";
      case AttributeSchema::Kind::kFloats:
        return "[1.0]";
      default:
        return name == "axis" ? "0" : "1";
    }
  }

  static std::string Quoted(const OpSchema* schema, const std::string& name, const std::string& value) {
    const bool text = schema->attributes.find(name)->second.kind == AttributeSchema::Kind::kString;
    return text ? "\"" + value + "\"" : value;
  }

  static std::string Written(const AttrValue& value) {
    switch (value.kind) {
      case AttrValue::Kind::kInt:
        return std::to_string(value.integer);
      case AttrValue::Kind::kFloat:
        return FormatDouble(value.number);
      case AttrValue::Kind::kString:
        return "\"" + value.text + "\"";
      case AttrValue::Kind::kList: {
        std::vector<std::string> parts;
        for (const AttrValue& item : value.list) parts.push_back(Written(item));
        return "[" + Join(parts, ", ") + "]";
      }
      default: {
        const auto type = ParseDataType(value.text);
        return type ? std::to_string(static_cast<int>(*type)) : "1";
      }
    }
  }

  // --- text

  std::string Text() const {
    std::vector<std::string> outputs;
    for (const std::string& name : written_) {
      const auto spec = specs_.find(name);
      const DataType type = spec == specs_.end() || !spec->second.type ? DataType::kFloat : *spec->second.type;
      if (read_.count(name) == 0) outputs.push_back(std::string(Name(type)) + "[] " + Identifier(name));
    }
    std::string text = "g (" + Join(inputs_, ", ") + ") => (" + Join(outputs, ", ") + ")";
    if (!constants_.empty()) text += "\n<" + Join(constants_, ", ") + ">";
    return text + "\n{\n  " + Join(nodes_, "\n  ") + "\n}\n";
  }

  const RuleSet& rules_;
  const RuleFile& file_;
  const Rule& rule_;
  const Choice& choice_;
  std::vector<Statement> lines_;
  std::map<std::string, Spec> specs_;
  std::map<std::string, std::string> aliases_;
  std::map<std::string, std::string> captured_;    // name of a captured attribute -> value
  std::map<std::string, std::string> attributes_;  // label.attribute -> value
  std::set<std::string> values_;
  std::set<std::string> declared_;
  std::set<std::string> read_;
  std::set<std::string> written_;
  std::vector<std::string> inputs_;
  std::vector<std::string> constants_;
  std::vector<std::string> nodes_;
  int fresh_ = 0;
};

}  // namespace

std::optional<std::string> GenerateGraph(const RuleSet& rules, const RuleFile& file, const Rule& rule,
                                         const Choice& choice) {
  return Generator(rules, file, rule, choice).Generate();
}

}  // namespace rulerun
