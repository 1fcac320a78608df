#include "engine/ruleset/text.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "engine/base/codes.h"
#include "engine/ruleset/lexer.h"

namespace rulerun {
namespace {

constexpr int kMaxDepth = 32;  // of nested calls and lists

// A recursive-descent parser; a method a rule of the grammar. The first error stops it: `error_` is set, and every
// method returns at once.
class Parser {
 public:
  Parser(std::vector<Token> tokens, TextMode mode) : tokens_(std::move(tokens)), mode_(mode) {}

  Result<std::vector<Statement>> Block() {
    std::vector<Statement> statements;
    if (mode_ == TextMode::kBecomes) {
      Statement statement;
      statement.where = Now().where;
      statement.alternatives.push_back(ParseAlternative());
      if (!error_ && !statement.alternatives[0].call) Fail(Code::kBadText, statement.where, "`becomes` takes one call");
      if (!error_ && !AtEnd()) Unexpected("the end of the text");
      statements.push_back(std::move(statement));
    } else {
      while (!AtEnd() && !error_) statements.push_back(ParseStatement());
    }
    if (error_) return *error_;
    if (statements.empty()) return MakeError(Code::kBadText, Now().where, "the text is empty");
    if (mode_ == TextMode::kUnit && statements.size() > 1) {
      return MakeError(Code::kBadText, statements[1].where, "a unit is one statement");
    }
    return statements;
  }

 private:
  // --- tokens
  const Token& Now(size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  bool AtEnd() const { return Now().kind == Token::Kind::kEnd; }
  bool IsSign(std::string_view sign, size_t ahead = 0) const {
    return Now(ahead).kind == Token::Kind::kSign && Now(ahead).text == sign;
  }
  bool IsName(size_t ahead = 0) const { return Now(ahead).kind == Token::Kind::kName; }
  bool IsWord(std::string_view word, size_t ahead = 0) const { return IsName(ahead) && Now(ahead).text == word; }
  bool IsNumber() const { return Now().kind == Token::Kind::kInt || Now().kind == Token::Kind::kFloat; }
  bool Accept(std::string_view sign) {
    if (!IsSign(sign)) return false;
    ++at_;
    return true;
  }

  static Error MakeError(Code code, const Location& where, std::string message, std::string remedy = "") {
    return {code, std::move(message), where.ToString(), std::move(remedy)};
  }
  void Fail(Code code, const Location& where, std::string message, std::string remedy = "") {
    if (!error_) error_ = MakeError(code, where, std::move(message), std::move(remedy));
    at_ = tokens_.size() - 1;
  }
  void Unexpected(std::string_view wanted) {
    const std::string found = AtEnd() ? "the end of the text" : "'" + Now().text + "'";
    Fail(Code::kBadText, Now().where, "expected " + std::string(wanted) + ", found " + found);
  }
  void Expect(std::string_view sign) {
    if (!Accept(sign)) Unexpected("'" + std::string(sign) + "'");
  }
  std::string ParseName(std::string_view what) {
    if (!IsName()) {
      Unexpected(what);
      return "";
    }
    return tokens_[at_++].text;
  }

  // --- statements
  Statement ParseStatement() {
    Statement statement;
    statement.where = Now().where;
    if (IsWord("each") && !IsSign("=", 1)) {
      ++at_;
      statement.each = true;
    }
    ParseOnce(statement);
    if (Accept("[")) {
      statement.label = ParseName("a label");
      Expect("]");
    }
    do {
      statement.outputs.push_back(ParseOutput());
    } while (Accept(","));
    if (Accept("=>")) {
      ParseRename(statement);
    } else {
      Expect("=");
      ParseRightSide(statement);
    }
    return statement;
  }

  void ParseOnce(Statement& statement) {
    if (!IsWord("once") || IsSign("=", 1) || IsSign(",", 1)) return;
    if (mode_ != TextMode::kReplace) return Fail(Code::kWrongBlock, Now().where, "'once' is for `replace`");
    if (statement.each) return Fail(Code::kBadText, Now().where, "'each' and 'once' exclude each other");
    statement.once = true;
    ++at_;
  }

  void ParseRename(Statement& statement) {
    statement.kind = Statement::Kind::kRename;
    statement.renamed_to = ParseName("the value's new name");
    if (mode_ != TextMode::kReplace) Fail(Code::kWrongBlock, statement.where, "'=>' is for `replace`");
    if (!statement.label.empty() || statement.outputs.size() != 1)
      Fail(Code::kBadText, statement.where, "'=>' takes one value");
  }

  void ParseRightSide(Statement& statement) {
    const bool quantized =
        mode_ == TextMode::kUnit && IsWord("Q") && (IsSign("(", 1) || (IsSign("?", 1) && IsSign("(", 2)));
    bool group = false;
    if (quantized) {
      ++at_;
      statement.quantized = Accept("?") ? Statement::Quantized::kMaybe : Statement::Quantized::kYes;
      Expect("(");
    } else {
      group = Accept("(");
    }
    ParseAlternatives(statement.alternatives);
    if (quantized || group) Expect(")");
    ParseRepeat(statement);
    if (mode_ == TextMode::kReplace && IsWord("if") && IsName(1) && !IsSign("=", 1)) {
      ++at_;
      statement.flag = ParseName("a flag");
    }
    CheckRightSide(statement);
  }

  // '?', '*' and `first`. A line of `compute` may assign to a value called `first`, hence the look at what follows.
  void ParseRepeat(Statement& statement) {
    if (IsSign("?") || IsSign("*")) {
      if (mode_ != TextMode::kMatch)
        return Fail(Code::kWrongBlock, Now().where, "'" + Now().text + "' behind a call is for `match`");
      statement.repeat = Now().text[0];
      ++at_;
    }
    const bool same_line = at_ > 0 && Now().line == tokens_[at_ - 1].line;
    if (mode_ == TextMode::kMatch && same_line && IsWord("first") && !IsSign("=", 1) && !IsSign(",", 1)) {
      statement.first = true;
      ++at_;
    }
  }

  void CheckRightSide(Statement& statement) {
    if (error_ || statement.alternatives.empty()) return;
    const bool many = statement.alternatives.size() > 1;
    const bool several_allowed = mode_ == TextMode::kMatch || mode_ == TextMode::kUnit;
    if (many && !several_allowed)
      return Fail(Code::kWrongBlock, statement.where, "alternatives are for `match` and `unit`");
    if (!statement.flag.empty() && !PassesOn(statement)) {
      return Fail(Code::kBadText, statement.where,
                  "a line with 'if' has one result and a first operand that takes its place");
    }
    if (many || statement.alternatives[0].call) return;
    if (statement.once) return Fail(Code::kBadText, statement.where, "'once' is for a line that makes a node");
    if (mode_ != TextMode::kReplace) {
      return Fail(Code::kBadText, statement.alternatives[0].where,
                  "expected a call, as in " + statement.alternatives[0].value + "(x)");
    }
    statement.kind = Statement::Kind::kBypass;
    if (!statement.label.empty() || statement.outputs.size() != 1) {
      Fail(Code::kBadText, statement.where,
           "'" + statement.outputs[0].name + " = " + statement.alternatives[0].value +
               "' takes one value and no label: it is no node");
    }
  }

  static bool PassesOn(const Statement& statement) {
    const auto& call = statement.alternatives[0].call;
    return call && !statement.each && statement.outputs.size() == 1 && !call->operands.empty() &&
           call->operands[0].kind == OperandPattern::Kind::kName;
  }

  OutputPattern ParseOutput() {
    OutputPattern output;
    output.where = Now().where;
    output.name = ParseTyped(output.type);
    ParseSuffix(output.optional, output.repeated);
    return output;
  }

  // [type] NAME [shape]: gives the name. A type may carry the shape instead.
  std::string ParseTyped(TypePattern& type) {
    std::string name = ParseName("the name of a value");
    if (IsSign("[")) type.shape = ParseShape();
    if (!IsName()) return name;
    type.name = std::move(name);
    name = ParseName("the name of a value");
    if (!IsSign("[")) return name;
    if (type.shape)
      Fail(Code::kBadText, Now().where, "a second shape: write it once, behind the type or behind the name");
    type.shape = ParseShape();
    return name;
  }

  void ParseSuffix(bool& optional, bool& repeated) {
    if (Accept("...")) {
      repeated = true;
    } else if (Accept("?")) {
      optional = true;
    }
  }

  std::vector<DimPattern> ParseShape() {
    const Location where = Now().where;
    std::vector<DimPattern> dims;
    Expect("[");
    if (IsSign("]")) {
      Fail(Code::kBadText, where, "an empty shape says nothing here", "for a scalar write a condition, rank: {x: 0}");
      return dims;
    }
    do {
      dims.push_back(ParseDim());
    } while (Accept(","));
    Expect("]");
    return dims;
  }

  DimPattern ParseDim() {
    DimPattern dim;
    if (Now().kind == Token::Kind::kInt) {
      dim.kind = DimPattern::Kind::kSize;
      dim.size = Integer(Now());
      if (dim.size < 0) Fail(Code::kBadText, Now().where, "a dimension is not negative");
      ++at_;
    } else {
      dim.name = ParseName("a dimension");
      dim.kind = dim.name == "_" ? DimPattern::Kind::kAny : DimPattern::Kind::kName;
      if (dim.kind == DimPattern::Kind::kAny) dim.name.clear();
    }
    dim.repeated = Accept("...");
    return dim;
  }

  // --- right side
  void ParseAlternatives(std::vector<Alternative>& alternatives) {
    do {
      alternatives.push_back(ParseAlternative());
    } while (Accept("|"));
  }

  Alternative ParseAlternative() {
    Alternative alternative;
    alternative.where = Now().where;
    const bool is_call = IsSign("{") || (IsName() && (IsSign("(", 1) || IsSign("<", 1) || IsSign("!", 1)));
    if (is_call) {
      alternative.call = ParseCall();
    } else {
      alternative.value = ParseName("an operator or a value");
    }
    return alternative;
  }

  Call ParseCall() {
    Call call;
    call.where = Now().where;
    if (++depth_ > kMaxDepth) Fail(Code::kTooLarge, call.where, "nested too deeply");
    if (Accept("{")) {
      do {
        call.ops.push_back(ParseName("an operator"));
      } while (Accept("|"));
      Expect("}");
      const bool several_allowed = mode_ == TextMode::kMatch || mode_ == TextMode::kUnit;
      if (call.ops.size() > 1 && !several_allowed)
        Fail(Code::kWrongBlock, call.where, "alternatives are for `match` and `unit`");
    } else {
      call.ops.push_back(ParseName("an operator"));
    }
    call.ordered = Accept("!");
    if (Accept("<")) ParseAttributes(call.attributes);
    Expect("(");
    if (!Accept(")")) {
      do {
        call.operands.push_back(ParseOperand());
      } while (Accept(","));
      Expect(")");
    }
    --depth_;
    return call;
  }

  void ParseAttributes(std::vector<AttrPattern>& attributes) {
    std::set<std::string> seen;
    do {
      AttrPattern attribute;
      attribute.where = Now().where;
      attribute.name = ParseName("an attribute");
      if (!error_ && !seen.insert(attribute.name).second) {
        Fail(Code::kBadText, attribute.where, "the attribute '" + attribute.name + "' stands here twice");
      }
      Expect("=");
      do {
        attribute.values.push_back(ParseValue());
      } while (Accept("|"));
      if (IsWord("if")) {
        ++at_;
        attribute.flag = ParseName("a flag");
        if (mode_ == TextMode::kMatch || mode_ == TextMode::kUnit) {
          Fail(Code::kWrongBlock, attribute.where, "'if' behind an attribute is for `replace` and `becomes`");
        }
      }
      attributes.push_back(std::move(attribute));
    } while (Accept(","));
    Expect(">");
  }

  AttrValue ParseValue() {
    AttrValue value;
    const Token& token = Now();
    if (IsNumber()) {
      value.kind = token.kind == Token::Kind::kInt ? AttrValue::Kind::kInt : AttrValue::Kind::kFloat;
      value.number = Number(token);
      if (value.kind == AttrValue::Kind::kInt) value.integer = Integer(token);
      value.text = token.text;
      ++at_;
    } else if (token.kind == Token::Kind::kString) {
      value.kind = AttrValue::Kind::kString;
      value.text = token.text;
      ++at_;
    } else if (Accept("@")) {
      value.kind = AttrValue::Kind::kCapture;
      value.text = ParseName("the name of a captured attribute");
      value.optional = Accept("?");
    } else if (Accept("[")) {
      ParseValueList(value);
    } else {
      value.text = ParseName("a value");
      value.kind = value.text == "none" ? AttrValue::Kind::kNone : AttrValue::Kind::kName;
      value.optional = Accept("?");
    }
    return value;
  }

  void ParseValueList(AttrValue& list) {
    list.kind = AttrValue::Kind::kList;
    if (++depth_ > kMaxDepth) Fail(Code::kTooLarge, Now().where, "nested too deeply");
    if (!Accept("]")) {
      do {
        list.list.push_back(ParseValue());
      } while (Accept(","));
      Expect("]");
    }
    --depth_;
  }

  // --- operands
  OperandPattern ParseOperand() {
    OperandPattern operand;
    operand.where = Now().where;
    if (IsNumber()) {
      ParseNumberOperand(operand);
    } else if (IsSign("*")) {
      ParseStar(operand);
    } else if (IsSign("@")) {
      ++at_;
      operand.kind = OperandPattern::Kind::kCapture;
      operand.name = ParseName("the name of a captured attribute");
      if (mode_ != TextMode::kCompute)
        Fail(Code::kWrongBlock, operand.where, "a captured attribute is an operand in `compute` only");
      operand.optional = Accept("?");
    } else if (IsSign("[")) {
      ParseListOperand(operand);
    } else if (mode_ == TextMode::kUnit && IsWord("DQ") && (IsSign("(", 1) || (IsSign("?", 1) && IsSign("(", 2)))) {
      ParseDequantized(operand);
    } else if (IsSign("{") || (IsName() && (IsSign("(", 1) || IsSign("<", 1) || IsSign("!", 1)))) {
      ParseNestedCall(operand);
    } else {
      operand.name = ParseTyped(operand.type);
      operand.kind = operand.name == "_" ? OperandPattern::Kind::kAny : OperandPattern::Kind::kName;
      if (operand.kind == OperandPattern::Kind::kAny) operand.name.clear();
      ParseSuffix(operand.optional, operand.repeated);
    }
    return operand;
  }

  void ParseNumberOperand(OperandPattern& operand) {
    operand.kind = OperandPattern::Kind::kNumber;
    operand.number = Number(Now());
    operand.is_integer = Now().kind == Token::Kind::kInt;
    if (mode_ != TextMode::kCompute && mode_ != TextMode::kMatch) {
      Fail(Code::kWrongBlock, operand.where, "a number is an operand in `match` and `compute` only",
           "name it in `compute` first");
    }
    ++at_;
  }

  void ParseStar(OperandPattern& operand) {
    ++at_;
    operand.kind = OperandPattern::Kind::kStar;
    operand.name = ParseName("the name of a quantized operand");
    operand.repeated = Accept("...");
    if (mode_ != TextMode::kBecomes)
      Fail(Code::kWrongBlock, operand.where, "'*' in front of an operand is for `becomes`");
  }

  void ParseListOperand(OperandPattern& operand) {
    ++at_;
    operand.kind = OperandPattern::Kind::kList;
    operand.is_integer = true;
    if (mode_ != TextMode::kCompute)
      Fail(Code::kWrongBlock, operand.where, "a list of numbers is an operand in `compute` only");
    if (Accept("]")) return;
    do {
      if (!IsNumber()) return Unexpected("a number");
      operand.list.push_back(Number(Now()));
      operand.is_integer = operand.is_integer && Now().kind == Token::Kind::kInt;
      ++at_;
    } while (Accept(","));
    Expect("]");
  }

  void ParseDequantized(OperandPattern& operand) {
    ++at_;
    operand.kind = OperandPattern::Kind::kDequantized;
    operand.maybe_dequantized = Accept("?");
    Expect("(");
    operand.name = ParseTyped(operand.type);
    ParseSuffix(operand.optional, operand.repeated);
    Expect(")");
  }

  void ParseNestedCall(OperandPattern& operand) {
    operand.kind = OperandPattern::Kind::kCall;
    if (mode_ != TextMode::kCompute) {
      Fail(Code::kWrongBlock, operand.where, "calls nest in `compute` only",
           "write a line for each node, so that it can have a name");
    }
    if (!error_) operand.call = std::make_shared<Call>(ParseCall());
  }

  // --- numbers
  int64_t Integer(const Token& token) {
    int64_t value = 0;
    const auto end = std::from_chars(token.text.data(), token.text.data() + token.text.size(), value);
    if (end.ec != std::errc())
      Fail(Code::kNumberTooLarge, token.where, "the number " + token.text + " does not fit into 64 bits");
    return value;
  }
  double Number(const Token& token) {
    double value = 0;
    const auto end = std::from_chars(token.text.data(), token.text.data() + token.text.size(), value);
    if (end.ec != std::errc())
      Fail(Code::kNumberTooLarge, token.where, "the number " + token.text + " does not fit into a double");
    return value;
  }

  std::vector<Token> tokens_;
  TextMode mode_;
  size_t at_ = 0;
  int depth_ = 0;
  std::optional<Error> error_;
};

}  // namespace

std::set<std::string> NamesIn(const Statement& statement) {
  std::set<std::string> names;
  for (const OutputPattern& output : statement.outputs) names.insert(output.name);
  for (const Alternative& alternative : statement.alternatives) {
    if (!alternative.call) {
      names.insert(alternative.value);
      continue;
    }
    for (const OperandPattern& operand : alternative.call->operands) {
      const bool named =
          operand.kind == OperandPattern::Kind::kName || operand.kind == OperandPattern::Kind::kDequantized;
      if (named) names.insert(operand.name);
    }
  }
  names.erase("_");
  names.erase("");
  return names;
}

Result<std::vector<Statement>> ParseText(std::string_view text, const Location& where, TextMode mode, int indent) {
  RULERUN_ASSIGN(std::vector<Token> tokens, Tokenize(text, where, indent));
  return Parser(std::move(tokens), mode).Block();
}

}  // namespace rulerun
