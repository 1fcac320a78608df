#include "engine/ruleset/text.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/base/text.h"

namespace rulerun {
namespace {

Location Start() { return {std::make_shared<const std::string>("f.yaml"), 10, 5}; }

struct Good {
  TextMode mode;
  const char* text;
  const char* printed;  // nullptr: the text itself
};

std::string Print(const std::vector<Statement>& statements) {
  std::vector<std::string> lines;
  for (const Statement& statement : statements) lines.push_back(ToString(statement));
  return Join(lines, "\n");
}

TEST(ParseText, ReadsWhatTheGrammarSays) {
  const Good table[] = {
      {TextMode::kMatch, "y = Relu(x)", nullptr},
      {TextMode::kMatch, "[conv] t = Conv(x, T[C,_,_,_...] W, T[C] b?)",
       "[conv] t = Conv(x, T W[C, _, _, _...], T b[C]?)"},
      {TextMode::kMatch, "y = BN<epsilon=@eps>(t, T[C] s)", "y = BN<epsilon = @eps>(t, T s[C])"},
      {TextMode::kMatch, "y = Clip<min = @min?>(t, lo?, hi?)", nullptr},
      {TextMode::kMatch, "y = {Relu|Sigmoid}(t) | LeakyRelu<alpha = @a>(t)", nullptr},
      {TextMode::kMatch, "x1 = Cast(x)?", nullptr},
      {TextMode::kMatch, "r = {Relu|Clip}(y, _...)*", nullptr},
      {TextMode::kMatch, "a = (Mul(a0, ma) | Div(a0, da))?", nullptr},
      {TextMode::kMatch, "c = (n | Sub(fp x1, fp m))", "c = n | Sub(fp x1, fp m)"},
      {TextMode::kMatch, "y = Add!(t, T a)", nullptr},
      {TextMode::kMatch, "d = Div(n, r) first", nullptr},
      {TextMode::kMatch, "each [q] y = Q(t, sy, zy)", nullptr},
      {TextMode::kMatch, "t = Add(b[H], x[_..., H])", nullptr},
      {TextMode::kMatch, "y = Pow(x, 2)  z = Mul(y, 0.5)", "y = Pow(x, 2)\nz = Mul(y, 0.5)"},
      {TextMode::kMatch, "y = Reshape(x[1..., C])", nullptr},
      {TextMode::kMatch, "a, b = Split(x)", nullptr},
      {TextMode::kMatch, "y = com.microsoft.FusedMatMul<alpha = -1e-05, transA = 0>(a, b)", nullptr},
      {TextMode::kMatch, "y = Resize<mode = \"nearest\">(x, _?)", nullptr},
      {TextMode::kUnit, "T y = Q({Add|Mul}(DQ(T a), DQ(T b)))", nullptr},
      {TextMode::kUnit, "y = MatMul(DQ(T a), DQ(W b))", nullptr},
      {TextMode::kUnit, "T y = Q?(Gemm<alpha = @alpha>(DQ(T a), DQ(W b[_, _]), DQ(int32 c?)))", nullptr},
      {TextMode::kUnit, "T y... = Q(Split(DQ(T x), sizes?))", nullptr},
      {TextMode::kUnit, "T y = Q(Concat(DQ(T x...)))", nullptr},
      {TextMode::kUnit, "y = MatMul(a, DQ(w)) | Gemm(a, DQ(w), DQ?(c?))", nullptr},
      {TextMode::kCompute, "f = Div(s, Sqrt(Add(var, @eps)))", nullptr},
      {TextMode::kCompute, "flat = Reshape(a, [-1])", nullptr},
      {TextMode::kCompute, "k = Product(@alpha?, ma?)", nullptr},
      {TextMode::kCompute, "each s3n = FillLike(s3, s)", nullptr},
      {TextMode::kCompute, "z = Reshape(x, [])  first = Cast<to = float>(z)",
       "z = Reshape(x, [])\nfirst = Cast<to = float>(z)"},
      {TextMode::kReplace, "y = x", nullptr},
      {TextMode::kReplace, "each y = x", nullptr},
      {TextMode::kReplace, "x => y", nullptr},
      {TextMode::kReplace, "[t] y = ${t.op}(x, W, b?)", nullptr},
      {TextMode::kReplace, "y = A<epsilon = add.in1 | 1e-05, stash_type = double if f64>(x)", nullptr},
      {TextMode::kReplace, "y = A<activation = \"${act.op}\", p = [@a?, @b?, lo?, hi?]>(x)", nullptr},
      {TextMode::kReplace, "y = A<alpha = none>(x, _)", nullptr},
      {TextMode::kReplace, "t = x\n[q] y = A(t)", nullptr},
      {TextMode::kBecomes, "com.microsoft.QLinear${op}(*a, *b, y.scale, y.zero_point)", nullptr},
      {TextMode::kBecomes, "com.microsoft.QLinearConcat(y.scale, y.zero_point, *x...)", nullptr},
      {TextMode::kBecomes, "Op<beta = none, opset = @since>(a, _, c.float?)", nullptr},
  };
  for (const Good& good : table) {
    SCOPED_TRACE(good.text);
    const auto statements = ParseText(good.text, Start(), good.mode);
    ASSERT_TRUE(statements.ok()) << ToString(statements.error());
    const std::string printed = Print(*statements);
    const std::string wanted = good.printed != nullptr ? good.printed : good.text;
    EXPECT_EQ(printed, wanted);
    // What is printed reads back as the same.
    const auto again = ParseText(printed, Start(), good.mode);
    ASSERT_TRUE(again.ok()) << ToString(again.error());
    EXPECT_EQ(Print(*again), printed);
  }
}

struct Bad {
  TextMode mode;
  const char* text;
  const char* error;
};

TEST(ParseText, SaysWhatIsWrongAndWhere) {
  const Bad table[] = {
      {TextMode::kMatch, "", "f.yaml:10:5: the text is empty"},
      {TextMode::kMatch, "y = Relu(x", "f.yaml:10:15: expected ')', found the end of the text"},
      {TextMode::kMatch, "y = Relu(x))", "f.yaml:10:16: expected the name of a value, found ')'"},
      {TextMode::kMatch, "y Relu(x)", "f.yaml:10:11: expected '=', found '('"},
      {TextMode::kMatch, "y = x", "f.yaml:10:9: expected a call, as in x(x)"},
      {TextMode::kMatch, "y = Relu(x[])", "f.yaml:10:15: an empty shape says nothing here"},
      {TextMode::kMatch, "y = Relu(T[C] x[C])", "f.yaml:10:20: a second shape"},
      {TextMode::kMatch, "y = Relu(Abs(x))", "f.yaml:10:14: calls nest in `compute` only"},
      {TextMode::kMatch, "x => y", "f.yaml:10:5: '=>' is for `replace`"},
      {TextMode::kMatch, "y = A<a = 1, a = 2>(x)", "f.yaml:10:18: the attribute 'a' stands here twice"},
      {TextMode::kMatch, "y = A<a = 1 if f>(x)", "'if' behind an attribute is for `replace` and `becomes`"},
      {TextMode::kMatch, "y = A(*x)", "f.yaml:10:11: '*' in front of an operand is for `becomes`"},
      {TextMode::kMatch, "y = A(\"text)", "f.yaml:10:11: a string without its closing quote"},
      {TextMode::kMatch, "y = A(x) ; z", "f.yaml:10:14: ';' has no meaning here"},
      {TextMode::kMatch, "y = A(x)\n    z = B(y, )", "f.yaml:11:14: expected the name of a value, found ')'"},
      {TextMode::kMatch, "y = A${x(z)", "f.yaml:10:10: '${' without '}'"},
      {TextMode::kMatch, "y = A(2x)", "f.yaml:10:11: a name must not begin with a digit"},
      {TextMode::kMatch, "y = A(99999999999999999999[99999999999999999999])", "f.yaml:10:31: expected ')', found '['"},
      {TextMode::kMatch, "y = A<a = 99999999999999999999>(x)",
       "f.yaml:10:15: the number 99999999999999999999 does not fit"},
      {TextMode::kUnit, "y = A(x)  z = B(y)", "f.yaml:10:15: a unit is one statement"},
      {TextMode::kCompute, "y = A(x)?", "f.yaml:10:13: '?' behind a call is for `match`"},
      {TextMode::kCompute, "y = A(x) | B(x)", "alternatives are for `match` and `unit`"},
      {TextMode::kReplace, "y = A(1)", "a number is an operand in `match` and `compute` only"},
      {TextMode::kReplace, "[a] y = x", "takes one value and no label"},
      {TextMode::kBecomes, "y = A(x)", "f.yaml:10:5: `becomes` takes one call"},
      {TextMode::kBecomes, "A(x) B(x)", "f.yaml:10:10: expected the end of the text, found 'B'"},
  };
  for (const Bad& bad : table) {
    SCOPED_TRACE(bad.text);
    const auto statements = ParseText(bad.text, Start(), bad.mode);
    ASSERT_FALSE(statements.ok());
    EXPECT_NE(ToString(statements.error()).find(bad.error), std::string::npos) << ToString(statements.error());
  }
}

TEST(ParseText, CountsColumnsFromTheIndentOfTheBlock) {
  const auto statements = ParseText("y = A(x)\n  z = B(?)", Start(), TextMode::kMatch, 6);
  ASSERT_FALSE(statements.ok());
  EXPECT_EQ(statements.error().place, "f.yaml:11:15");
}

TEST(ParseText, NestingIsLimited) {
  std::string deep = "y = ";
  for (int i = 0; i < 5000; ++i) deep += "A(";
  const auto statements = ParseText(deep, Start(), TextMode::kCompute);
  ASSERT_FALSE(statements.ok());
  EXPECT_NE(statements.error().message.find("nested too deeply"), std::string::npos);
}

TEST(ParseText, ReadsTheParts) {
  const auto parsed =
      ParseText("T y = Q(Resize<mode = \"nearest\" | 1>(DQ(T[_, C...] x), _..., z?))", Start(), TextMode::kUnit);
  ASSERT_TRUE(parsed.ok());
  const Statement& unit = parsed->front();
  EXPECT_EQ(unit.quantized, Statement::Quantized::kYes);
  EXPECT_EQ(unit.outputs.front().type.name, "T");
  const Call& call = *unit.alternatives.front().call;
  ASSERT_EQ(call.attributes.size(), 1U);
  EXPECT_EQ(call.attributes[0].values.size(), 2U);
  EXPECT_EQ(call.attributes[0].values[1].integer, 1);
  ASSERT_EQ(call.operands.size(), 3U);
  EXPECT_EQ(call.operands[0].kind, OperandPattern::Kind::kDequantized);
  ASSERT_TRUE(call.operands[0].type.shape.has_value());
  EXPECT_EQ(call.operands[0].type.shape->size(), 2U);
  EXPECT_TRUE(call.operands[0].type.shape->back().repeated);
  EXPECT_EQ(call.operands[1].kind, OperandPattern::Kind::kAny);
  EXPECT_TRUE(call.operands[1].repeated);
  EXPECT_TRUE(call.operands[2].optional);
  EXPECT_EQ(call.operands[2].where.column, 66);
}

}  // namespace
}  // namespace rulerun
