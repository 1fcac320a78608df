// The text blocks of rules (`match`, `unit`, `compute`, `replace`, `becomes`): their syntax tree and parser.
// Grammar: docs/rule-language.md, section 2.
#ifndef RULERUN_ENGINE_RULESET_TEXT_H_
#define RULERUN_ENGINE_RULESET_TEXT_H_

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/base/result.h"
#include "engine/ruleset/location.h"

namespace rulerun {

// One dimension of a written shape: a size, a name (dimension variable) or "_".
struct DimPattern {
  enum class Kind { kSize, kName, kAny };
  Kind kind = Kind::kAny;
  int64_t size = 0;
  std::string name;
  bool repeated = false;  // "...": any number of them, none included
};

// The type in front of a value: an element type, a set of the rule file, or a type variable; maybe a shape.
struct TypePattern {
  std::string name;  // "" where only a shape is written
  std::optional<std::vector<DimPattern>> shape;
};

struct Call;

// An attribute's value in the text.
struct AttrValue {
  enum class Kind {
    kInt,      // 1
    kFloat,    // 0.5, 1e-5
    kString,   // "text", may hold ${..}
    kCapture,  // @name
    kName,     // name, label.in1, option.name, a type such as float
    kList,     // [a, b]
    kNone,     // none: drops the attribute
  };
  Kind kind = Kind::kNone;
  int64_t integer = 0;
  double number = 0;
  std::string text;             // of strings, captures and names
  std::vector<AttrValue> list;  // of lists
  bool optional = false;        // "?"
};

struct AttrPattern {
  std::string name;
  std::vector<AttrValue> values;  // v | w: the first that has a value
  std::string flag;               // `if FLAG`, or ""
  Location where;
};

// One operand of a call.
struct OperandPattern {
  enum class Kind {
    kName,         // x
    kAny,          // _
    kNumber,       // 1, 0.5
    kCapture,      // @eps
    kList,         // [1, -1]
    kStar,         // *x: x, x.scale, x.zero_point
    kCall,         // nested call (compute)
    kDequantized,  // DQ(x)
  };
  Kind kind = Kind::kAny;
  std::string name;  // of kName, kCapture, kStar, kDequantized; may have members: x.scale
  TypePattern type;
  double number = 0;        // of kNumber
  bool is_integer = false;  // kNumber written without point or exponent; kList: all of them
  std::vector<double> list;
  bool optional = false;           // "?"
  bool repeated = false;           // "..."
  bool maybe_dequantized = false;  // "DQ?(x)"
  std::shared_ptr<Call> call;      // of kCall
  Location where;
};

// An operator with attributes and operands.
struct Call {
  std::vector<std::string> ops;  // alternatives {A|B}: names with their domain, sets, or templates holding ${..}
  bool ordered = false;          // "!": operands in this order although the operator is commutative
  std::vector<AttrPattern> attributes;
  std::vector<OperandPattern> operands;
  Location where;
};

// What stands right of "=": alternatives, each a call or the name of a value.
struct Alternative {
  std::optional<Call> call;
  std::string value;  // where `call` is empty
  Location where;
};

struct OutputPattern {
  std::string name;  // "_" where nobody names it
  TypePattern type;
  bool optional = false;
  bool repeated = false;
  Location where;
};

struct Statement {
  enum class Kind {
    kCall,    // y = Op(x)
    kBypass,  // y = x
    kRename,  // x => y
  };
  enum class Quantized { kNo, kYes, kMaybe };  // y = Op(..), y = Q(Op(..)), y = Q?(Op(..))
  Kind kind = Kind::kCall;
  bool each = false;
  bool once = false;                      // replace: a node that the walk has made already is taken
  std::string label;                      // "" without one
  std::vector<OutputPattern> outputs;     // of kRename: the first is the value left of "=>"
  std::vector<Alternative> alternatives;  // of kBypass: one value
  std::string renamed_to;                 // of kRename
  char repeat = 0;                        // '?' the node may be missing, '*' any chain of them, 0
  bool first = false;                     // the lowest-indexed candidate or none
  std::string flag;                       // replace: `if FLAG`, without it the result is the first operand
  Quantized quantized = Quantized::kNo;
  Location where;
};

enum class TextMode { kMatch, kUnit, kCompute, kReplace, kBecomes };

// Parses a block. `where` is the place of its first character; a multi-line block's further lines are taken to start
// `indent` columns in. kBecomes takes a bare call and gives one statement without outputs.
Result<std::vector<Statement>> ParseText(std::string_view text, const Location& where, TextMode mode, int indent = 0);

// The values that a statement names: results, operands, alternatives.
std::set<std::string> NamesIn(const Statement& statement);

// Writes a statement the way it is read; used by messages and generated pages.
std::string ToString(const Statement& statement);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_RULESET_TEXT_H_
