// ONNX's own schema objects behind FindSchema, for the .cc files of this folder only.
#ifndef RULERUN_ENGINE_GRAPH_ONNX_SCHEMA_H_
#define RULERUN_ENGINE_GRAPH_ONNX_SCHEMA_H_

#include <onnx/defs/schema.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/graph/schema.h"

namespace rulerun {

// What a formal parameter lets in: element types of dense tensors as bits (1 << DataType), and everything else.
struct AllowedTypes {
  uint64_t elements = 0;
  bool other = false;  // some type that is no dense tensor
  bool homogeneous = true;

  bool Has(DataType type) const { return ((elements >> static_cast<int>(type)) & 1u) != 0; }
  bool single() const { return !other && elements != 0 && (elements & (elements - 1)) == 0; }
  DataType only() const;  // of a single one
};

// A schema as both sides know it.
struct OnnxSchema {
  OpSchema ours;
  const onnx::OpSchema* theirs = nullptr;
  std::vector<AllowedTypes> inputs;
  std::vector<AllowedTypes> outputs;
};

// nullptr where ONNX has no such operator at that opset version, or has deprecated it.
const OnnxSchema* FindOnnxSchema(std::string_view domain, std::string_view op_type, int opset_version);

// The same view of a schema that a rule set brought.
std::vector<AllowedTypes> AllowedInputs(const OpSchema& schema);
std::vector<AllowedTypes> AllowedOutputs(const OpSchema& schema);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_GRAPH_ONNX_SCHEMA_H_
