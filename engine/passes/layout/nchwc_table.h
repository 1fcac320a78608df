// The table of the pass `nchwc`.
#ifndef RULERUN_ENGINE_PASSES_LAYOUT_NCHWC_TABLE_H_
#define RULERUN_ENGINE_PASSES_LAYOUT_NCHWC_TABLE_H_

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "engine/graph/graph.h"
#include "engine/ruleset/yaml.h"

namespace rulerun {

class Nchwc;
struct NchwcRow;

using NchwcHandler = void (Nchwc::*)(NodeIndex index, const NchwcRow& row);

// x * gate(x), where the gate's attributes have these values, is one activation.
struct NchwcGate {
  std::map<std::string, float> attributes;
  std::string multiply;
  std::string activation;
};

struct NchwcRow {
  NchwcHandler handle = nullptr;
  std::vector<int64_t> since;
  bool converted = false;
  std::string becomes;
  std::optional<size_t> sum;     // conv: slot of a tensor that is added
  bool not_padded_ceil = false;  // pool
  bool fuse = false;             // activation: may become part of a convolution
  std::vector<std::pair<std::string, float>> parameters;
  std::optional<NchwcGate> gate;
};

struct NchwcTable {
  std::string block;
  int64_t channel_alignment = 1;
  std::string conv;
  std::string upsample;
  std::string reorder_input;
  std::string reorder_output;
  std::string reshape;
  std::map<std::string, NchwcRow> rows;

  const NchwcRow* RowOf(const Node& node) const;
};

Result<NchwcTable> ReadNchwcTable(const Yaml* yaml);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_PASSES_LAYOUT_NCHWC_TABLE_H_
