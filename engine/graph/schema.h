// Operator schemas: ONNX's own, and those that a rule set brings for domains ONNX does not define.
#ifndef RULERUN_ENGINE_GRAPH_SCHEMA_H_
#define RULERUN_ENGINE_GRAPH_SCHEMA_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/graph/attribute.h"
#include "engine/graph/graph.h"

namespace rulerun {

// The ai.onnx opsets that models may use.
inline constexpr int kOldestOpset = 7;
inline constexpr int kNewestOpset = 26;

// A dimension as a schema writes it: `_`, `4`, `B`, `3 * H`, `D...`; of outputs also `@N`, `@sizes[2]`.
struct FormalDim {
  enum class Kind { kAny, kSize, kName, kAttribute };
  Kind kind = Kind::kAny;
  std::string name;    // of the dimension or attribute
  int64_t number = 1;  // kSize: the size; kName: what the dimension is a multiple of; kAttribute: the element of a list
  bool rest = false;   // any number of dimensions
  bool listed = false;  // kAttribute: `number` counts
};
// Dimension by dimension. Of an output's, the first alternative whose size is known counts.
using FormalShape = std::vector<std::vector<FormalDim>>;

// A formal input or output.
struct FormalParameter {
  std::string name;
  std::string type;  // name of a type constraint, or one type's name ("int32")
  bool optional = false;
  bool variadic = false;
  std::optional<FormalShape> shape;  // ExternalSchemas only
};

struct AttributeSchema {
  enum class Kind { kInt, kFloat, kString, kInts, kFloats, kStrings, kTensor, kGraph, kOther };
  Kind kind = Kind::kOther;
  bool required = false;
  std::optional<Attribute> default_value;
};

// The schema of one operator at one since-version, wherever it comes from.
struct OpSchema {
  std::string op_type;
  std::string domain;
  int since_version = 1;
  std::vector<FormalParameter> inputs;
  std::vector<FormalParameter> outputs;
  int min_inputs = 0;
  int min_outputs = 0;
  std::map<std::string, AttributeSchema, std::less<>> attributes;
  std::map<std::string, std::vector<DataType>, std::less<>> types;  // constraint -> element types
  bool unchecked_attributes = false;                                // others than those named are let pass
  bool has_function = false;                                        // ONNX gives a function body
  bool deterministic = true;
  // Shape of the outputs: that of the ONNX operator `like`, given the inputs `like_inputs` of this one in that order
  // (ExternalSchemas only). Empty: unknown.
  std::string like;
  std::vector<int> like_inputs;
  int like_step = 0;  // > 0: like_inputs go on from the last one in this step, as far as the node has inputs
  // The shapes are known only where these attributes have these values (schema defaults counted).
  std::vector<std::pair<std::string, int64_t>> like_if;
  // Element type of the first output where its constraint does not give it: that of this input if it is there, else
  // `output_otherwise`.
  int output_type_of = -1;
  DataType output_otherwise = DataType::kUndefined;
};

// Schemas beyond ONNX's, by domain and operator. One version each: com.microsoft has only version 1.
class ExternalSchemas {
 public:
  void Add(OpSchema schema);
  const OpSchema* Find(std::string_view domain, std::string_view op_type) const;
  const std::map<std::string, OpSchema, std::less<>>& all() const { return schemas_; }

 private:
  std::map<std::string, OpSchema, std::less<>> schemas_;  // by "domain.op"
};

// Looks a schema up among ONNX's and then in `external`, which may also bring operators of ai.onnx that ONNX lacks in
// that opset version (ONNX Runtime has some of its own); nullptr where there is none.
// Results are cached and live as long as the program (ONNX's) or `external`.
const OpSchema* FindSchema(const ExternalSchemas& external, std::string_view domain, std::string_view op_type,
                           int opset_version);
// Every since-version of an ONNX operator, ascending; empty where ONNX has no such operator.
std::vector<int> SinceVersions(std::string_view domain, std::string_view op_type);
// Names of ONNX's operators, all domains ("Conv", "ai.onnx.ml.Scaler").
const std::vector<std::string>& OnnxOperators();

}  // namespace rulerun

#endif  // RULERUN_ENGINE_GRAPH_SCHEMA_H_
