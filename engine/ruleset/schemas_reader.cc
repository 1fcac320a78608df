// Schemas of operators that ONNX does not define:
//
//   domain: com.microsoft
//   ops:
//     QLinearOp:
//       inputs: T x, float x_scale, T x_zero_point?, T rest...     (may have shapes: T x[B, D..., 3 * H])
//       outputs: T y                                               (T y[B, H, @size, @sizes[2] | H])
//       attributes: int axis, float alpha = 0.01, ints pads?       (required, with default, may be absent)
//       types: {T: [int8, uint8]}
//       shape: like Op(x, _, rest) if transA = 0                   (of the ONNX operator Op, given these inputs)
//       type: y_zero_point | uint8                                 (of the first output, where no constraint tells)
#include <algorithm>
#include <array>
#include <charconv>

#include "engine/base/codes.h"
#include "engine/base/text.h"
#include "engine/ruleset/lexer.h"
#include "engine/ruleset/reading.h"

namespace rulerun {
namespace {

using Kind = AttributeSchema::Kind;

struct KindName {
  std::string_view name;
  Kind kind;
};
constexpr auto kKinds = std::to_array<KindName>({{"int", Kind::kInt},
                                                 {"float", Kind::kFloat},
                                                 {"string", Kind::kString},
                                                 {"ints", Kind::kInts},
                                                 {"floats", Kind::kFloats},
                                                 {"strings", Kind::kStrings},
                                                 {"tensor", Kind::kTensor},
                                                 {"graph", Kind::kGraph}});

// Reads the comma-separated lists of one operator. The first error of a list stops it.
class ListReader {
 public:
  ListReader(const Yaml& scalar, Diagnostics& errors) : errors_(errors) {
    auto tokens = Tokenize(scalar.scalar, scalar.TextStart(), scalar.block_indent);
    if (tokens.ok()) {
      tokens_ = std::move(tokens).value();
    } else {
      errors_.Add(tokens.error());
      tokens_.push_back({Token::Kind::kEnd, "", scalar.where, 0});
    }
  }

  bool AtEnd() const { return failed_ || Now().kind == Token::Kind::kEnd; }
  const Token& Now() const { return tokens_[std::min(at_, tokens_.size() - 1)]; }
  bool Accept(std::string_view sign) {
    if (Now().kind != Token::Kind::kSign || Now().text != sign) return false;
    ++at_;
    return true;
  }
  std::string Name(std::string_view what) {
    if (Now().kind != Token::Kind::kName) {
      Fail("expected " + std::string(what));
      return "";
    }
    return tokens_[at_++].text;
  }
  void Comma() {
    if (!AtEnd() && !Accept(",")) Fail("expected ','");
  }
  void Fail(std::string message) {
    if (!failed_) errors_.Add(Code::kBadSchema, Now().where, std::move(message));
    failed_ = true;
  }

  std::vector<FormalParameter> Parameters() {
    std::vector<FormalParameter> parameters;
    while (!AtEnd()) {
      FormalParameter parameter;
      parameter.type = Name("a type");
      parameter.name = Name("a name");
      if (Accept("[")) parameter.shape = Dims();
      parameter.optional = Accept("?");
      parameter.variadic = Accept("...");
      parameters.push_back(std::move(parameter));
      Comma();
    }
    return parameters;
  }

  void Attributes(OpSchema& schema) {
    while (!AtEnd()) {
      AttributeSchema attribute;
      const std::string kind = Name("the kind of an attribute");
      const auto known = std::find_if(kKinds.begin(), kKinds.end(), [&](const KindName& k) { return k.name == kind; });
      if (known == kKinds.end()) return Fail("'" + kind + "' is no kind of attribute");
      attribute.kind = known->kind;
      const std::string name = Name("a name");
      if (Accept("=")) {
        attribute.default_value = Default(attribute.kind);
      } else {
        attribute.required = !Accept("?");
      }
      schema.attributes.emplace(name, std::move(attribute));
      Comma();
    }
  }

  // like Op(x, _, y) if attribute = 0, other = 0. Slots: a name, `_` for none, `1, 4...` for 1, 4, 7 and so on.
  void Shape(OpSchema& schema) {
    if (Name("'like'") != "like") return Fail("expected 'like Op(inputs)'");
    schema.like = Name("an operator");
    if (!Accept("(")) return Fail("expected '('");
    while (!AtEnd() && !Accept(")")) {
      if (!Slot(schema)) return;
      if (Accept(")")) break;
      Comma();
    }
    if (AtEnd()) return;
    if (Name("'if'") != "if") return Fail("expected 'if attribute = value'");
    while (!AtEnd()) {
      const std::string name = Name("an attribute");
      if (!Accept("=") || Now().kind != Token::Kind::kInt) return Fail("expected '= value'");
      if (schema.attributes.count(name) == 0) Fail("there is no attribute '" + name + "'");
      schema.like_if.emplace_back(name, Integer());
      Comma();
    }
  }

  // y_zero_point | uint8
  void OutputType(OpSchema& schema) {
    const std::string input = Name("an input");
    schema.output_type_of = SlotNamed(schema, input);
    if (!Accept("|")) return;
    const auto type = ParseDataType(Name("a type"));
    if (!type) return Fail("expected an element type");
    schema.output_otherwise = *type;
  }

 private:
  // What stands behind `[`: dimensions, each with its alternatives.
  FormalShape Dims() {
    FormalShape shape;
    if (Accept("]")) return shape;
    do {
      shape.emplace_back();
      do {
        shape.back().push_back(OneDim());
      } while (!failed_ && Accept("|"));
    } while (!failed_ && Accept(","));
    if (!Accept("]")) Fail("expected ']'");
    return shape;
  }

  FormalDim OneDim() {
    FormalDim dim;
    if (Accept("@")) {
      dim.kind = FormalDim::Kind::kAttribute;
      dim.name = Name("an attribute");
      dim.listed = Accept("[");
      if (dim.listed) dim.number = Integer();
      if (dim.listed && !Accept("]")) Fail("expected ']'");
      return dim;
    }
    if (Now().kind == Token::Kind::kInt) {
      dim.kind = FormalDim::Kind::kSize;
      dim.number = Integer();
      if (dim.number < 0 || (dim.number == 0 && Now().text == "*")) Fail("a size is not below 0, a factor above 0");
      if (!Accept("*")) return dim;
    }
    dim.name = Name("a dimension");
    dim.kind = dim.name == "_" ? FormalDim::Kind::kAny : FormalDim::Kind::kName;
    dim.rest = Accept("...");
    return dim;
  }

  int64_t Integer() {
    int64_t value = 0;
    const std::string& text = Now().text;
    if (std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc())
      Fail("expected a whole number");
    ++at_;
    return value;
  }

  std::optional<Attribute> Default(Kind kind) {
    const Token& token = Now();
    const bool is_int = token.kind == Token::Kind::kInt;
    if (kind == Kind::kInt && is_int) return Integer();
    if (kind == Kind::kFloat && (is_int || token.kind == Token::Kind::kFloat)) {
      float value = 0;
      std::from_chars(token.text.data(), token.text.data() + token.text.size(), value);
      ++at_;
      return value;
    }
    if (kind == Kind::kString && token.kind == Token::Kind::kString) return tokens_[at_++].text;
    Fail("the default is of another kind; lists have none");
    return std::nullopt;
  }

  int SlotNamed(const OpSchema& schema, const std::string& name) {
    for (size_t i = 0; i < schema.inputs.size(); ++i) {
      if (schema.inputs[i].name == name) return static_cast<int>(i);
    }
    std::vector<std::string> names;
    for (const FormalParameter& input : schema.inputs) names.push_back(input.name);
    if (!failed_) Fail("there is no input '" + name + "'" + DidYouMean(name, names));
    return -1;
  }

  bool Slot(OpSchema& schema) {
    if (Now().kind == Token::Kind::kInt) {
      const int slot = static_cast<int>(Integer());
      if (Accept("...")) schema.like_step = schema.like_inputs.empty() ? 1 : slot - schema.like_inputs.back();
      if (schema.like_step < 0) Fail("slots go up");
      schema.like_inputs.push_back(slot);
    } else {
      const std::string name = Name("an input");
      schema.like_inputs.push_back(name == "_" ? -1 : SlotNamed(schema, name));
    }
    return !failed_;
  }

  Diagnostics& errors_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
  bool failed_ = false;
};

constexpr auto kSchemaKeys = std::to_array<std::string_view>(
    {"domain", "since", "inputs", "outputs", "attributes", "other-attributes", "types", "shape", "type", "note"});

void ReadTypeConstraints(const Yaml& types, OpSchema& schema, Diagnostics& errors) {
  for (const auto& [name, value] : types.entries) {
    std::vector<DataType>& list = schema.types[name];
    for (const std::string& type : value.AsNames().value_or(std::vector<std::string>{})) {
      if (const auto known = ParseDataType(type)) {
        list.push_back(*known);
      } else {
        errors.Add(Code::kBadSchema, value.where,
                   "'" + type + "' is no element type" + DidYouMean(type, DataTypeNames()));
      }
    }
  }
}

void CheckParameterTypes(const std::vector<FormalParameter>& parameters, const OpSchema& schema, const Location& where,
                         Diagnostics& errors) {
  for (const FormalParameter& parameter : parameters) {
    if (schema.types.count(parameter.type) > 0 || ParseDataType(parameter.type)) continue;
    errors.Add(Code::kBadSchema, where,
               "'" + parameter.type + "' is neither an element type nor declared under 'types'");
  }
}

std::vector<std::string> NamesOfDimensions(const std::vector<FormalParameter>& parameters) {
  std::vector<std::string> names;
  for (const FormalParameter& parameter : parameters) {
    for (const auto& alternatives : parameter.shape.value_or(FormalShape())) {
      for (const FormalDim& dim : alternatives) {
        if (dim.kind == FormalDim::Kind::kName) names.push_back(dim.name);
      }
    }
  }
  return names;
}

// Dimensions of outputs come from inputs and attributes; one shape has at most one `...`.
void CheckDimensions(const OpSchema& schema, const Location& where, Diagnostics& errors) {
  const std::vector<std::string> bound = NamesOfDimensions(schema.inputs);
  for (const std::string& name : NamesOfDimensions(schema.outputs)) {
    if (std::find(bound.begin(), bound.end(), name) != bound.end()) continue;
    errors.Add(Code::kBadSchema, where, "no input has a dimension '" + name + "'" + DidYouMean(name, bound));
  }
  for (const auto* parameters : {&schema.inputs, &schema.outputs}) {
    for (const FormalParameter& parameter : *parameters) {
      int rests = 0;
      for (const auto& alternatives : parameter.shape.value_or(FormalShape())) {
        for (const FormalDim& dim : alternatives) {
          rests += dim.rest ? 1 : 0;
          if (dim.kind != FormalDim::Kind::kAttribute) continue;
          if (schema.attributes.count(dim.name) == 0)
            errors.Add(Code::kBadSchema, where, "there is no attribute '" + dim.name + "'");
        }
        if (parameters == &schema.inputs &&
            (alternatives.size() > 1 || alternatives.front().kind == FormalDim::Kind::kAttribute)) {
          errors.Add(Code::kBadSchema, where, "the shape of input '" + parameter.name + "' names dimensions only");
        }
      }
      if (rests > 1) errors.Add(Code::kBadSchema, where, "'" + parameter.name + "' has '...' more than once");
    }
  }
}

int LeastCount(const std::vector<FormalParameter>& parameters) {
  int least = 0;
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (!parameters[i].optional) least = static_cast<int>(i) + 1;
  }
  return least;
}

void ReadSchema(const std::string& name, const Yaml& map, const std::string& domain, ExternalSchemas& schemas,
                Diagnostics& errors) {
  OpSchema schema;
  schema.op_type = name;
  schema.domain = map.Get("domain") != nullptr ? TextOf(map, "domain") : domain;
  for (size_t i = 0; i < map.entries.size(); ++i) {
    const std::string& key = map.entries[i].first;
    if (std::find(kSchemaKeys.begin(), kSchemaKeys.end(), key) != kSchemaKeys.end()) continue;
    errors.Add(Code::kUnknownKey, map.key_places[i],
               "a schema has no key '" + key + "'" + DidYouMean(key, {kSchemaKeys.begin(), kSchemaKeys.end()}));
  }
  if (const Yaml* since = map.Get("since")) schema.since_version = static_cast<int>(since->AsInt().value_or(1));
  if (const Yaml* types = map.Get("types")) ReadTypeConstraints(*types, schema, errors);
  if (const Yaml* inputs = map.Get("inputs")) schema.inputs = ListReader(*inputs, errors).Parameters();
  if (const Yaml* outputs = map.Get("outputs")) schema.outputs = ListReader(*outputs, errors).Parameters();
  if (const Yaml* attributes = map.Get("attributes")) ListReader(*attributes, errors).Attributes(schema);
  if (const Yaml* lax = map.Get("other-attributes")) schema.unchecked_attributes = lax->AsBool().value_or(false);
  if (const Yaml* shape = map.Get("shape")) ListReader(*shape, errors).Shape(schema);
  if (const Yaml* type = map.Get("type")) ListReader(*type, errors).OutputType(schema);
  CheckParameterTypes(schema.inputs, schema, map.where, errors);
  CheckParameterTypes(schema.outputs, schema, map.where, errors);
  CheckDimensions(schema, map.where, errors);
  if (!schema.like.empty() && SinceVersions("", schema.like).empty()) {
    errors.Add(Code::kBadSchema, map.Get("shape")->where,
               "ONNX has no operator '" + schema.like + "'" + DidYouMean(schema.like, OnnxOperators()));
  }
  schema.min_inputs = LeastCount(schema.inputs);
  schema.min_outputs = LeastCount(schema.outputs);
  schemas.Add(std::move(schema));
}

}  // namespace

void ReadSchemas(const std::string& path, ExternalSchemas& schemas, Diagnostics& errors) {
  auto file = ReadYaml(path);
  if (!file.ok()) return errors.Add(file.error());
  const Yaml* ops = file->Get("ops");
  if (ops == nullptr || !ops->IsMap()) {
    return errors.Add(Code::kBadSchema, file->where,
                      "a file of schemas has the keys 'domain' and 'ops', a map of operators");
  }
  for (const auto& [name, map] : ops->entries) {
    if (map.IsMap()) {
      ReadSchema(name, map, TextOf(*file, "domain"), schemas, errors);
    } else {
      errors.Add(Code::kBadSchema, map.where, "a schema is a map with inputs, outputs, attributes, types");
    }
  }
}

}  // namespace rulerun
