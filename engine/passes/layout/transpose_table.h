// The table of the transpose optimizer: which operator is handled by which algorithm, and how.
#ifndef RULERUN_ENGINE_PASSES_LAYOUT_TRANSPOSE_TABLE_H_
#define RULERUN_ENGINE_PASSES_LAYOUT_TRANSPOSE_TABLE_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/passes/layout/editor.h"
#include "engine/ruleset/yaml.h"

namespace rulerun {

struct Push;
struct HandlerRow;

// Moves the Transpose that feeds a node behind it. False: nothing was changed.
using Handler = bool (*)(const Push& push, const HandlerRow& row);

struct HandlerKind {
  std::string name;
  Handler handle = nullptr;
  bool transposes_outputs = true;  // what comes out of the node has to be transposed back
};
// Every handler by name; in handlers.cc.
const std::vector<HandlerKind>& HandlerKinds();

// The inputs that have to be transposed together.
struct Slots {
  enum class Kind { kList, kAll, kNonScalar, kStepped };
  Kind kind = Kind::kList;
  std::vector<size_t> list;
  size_t from = 0;  // kStepped
  size_t step = 1;
};

// What a table says of one operator. Most handlers use a few of these only.
struct HandlerRow {
  const HandlerKind* kind = nullptr;
  Slots slots;
  std::optional<int64_t> axis;  // default of the attribute
  int axis_since = 0;           // opset that brought the attribute
  int two_sides_before = 0;     // soft-max: below this opset `axis` parts the axes into two sides
  int64_t two_sides_axis = 1;   // default of `axis` there
  int input_since = 0;          // opset that turned an attribute (axes, pads) into an input
  int range_since = 0;          // shape: opset that brought `start` and `end`
  int zero_since = 0;           // reshape: version that brought `allowzero`
  bool alone = false;           // simple: only without any other input
  bool assigned = false;        // only nodes that the stage's provider runs
  std::vector<DataType> types;  // of output 0
  std::optional<size_t> rank;
  bool to_channels_first = true;  // permutations that are allowed, of `perms`; both: any
  bool to_channels_last = true;
  bool any_perm = true;
  std::string becomes;
  std::vector<std::string> drop_attributes;
};

// An operator through which a Transpose is pushed without asking for the cost.
struct AlwaysPush {
  std::optional<size_t> rank;  // of input 0
  std::vector<DataType> types;
  AttributeMap attributes;
};

struct TransposeTable {
  int min_opset = 0;
  int max_opset = 0;
  std::string constant;
  std::string transpose;
  std::string squeeze;
  std::string unsqueeze;
  int axes_input_since = 0;
  std::string gather;
  std::string copy;
  std::set<std::string> quantize;
  std::set<std::string> dequantize;
  std::map<std::string, HandlerRow> rows;
  std::map<std::string, AlwaysPush> always_push;

  const HandlerRow* RowOf(const Node& node) const;
  bool IsTranspose(const Node* node) const { return node != nullptr && node->Op() == transpose; }
  bool IsQuantize(const Node* node) const { return node != nullptr && quantize.contains(node->Op()); }
  bool IsDequantize(const Node* node) const { return node != nullptr && dequantize.contains(node->Op()); }
  // The quantizing (dequantizing) operator of a domain, or "".
  std::string QuantizeIn(const std::string& domain) const;
  std::string DequantizeIn(const std::string& domain) const;
};

Result<TransposeTable> ReadTransposeTable(const Yaml* yaml);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_PASSES_LAYOUT_TRANSPOSE_TABLE_H_
