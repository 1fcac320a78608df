// Canonical form of a graph, for comparing two of them: by structure, attributes and constant bytes, never by names
// that a rewriter made up. The same notion of equality as shared/oracle/canon.py.
#ifndef RULERUN_ENGINE_REPORT_CANONICAL_H_
#define RULERUN_ENGINE_REPORT_CANONICAL_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/graph/graph.h"
#include "engine/graph/schema.h"

namespace rulerun {

struct CanonicalNode {
  uint64_t hash = 0;
  std::string text;  // "Conv(%x, int8[8, 3, 3, 3]) <strides=[1, 1]>", for messages
};

struct CanonicalGraph {
  std::vector<CanonicalNode> nodes;
  std::vector<std::pair<std::string, uint64_t>> outputs;  // name and what it is

  uint64_t Digest() const;
};

// Attributes that equal their schema's default count as not written.
CanonicalGraph Canonicalize(const Graph& graph, const ExternalSchemas& schemas);

// Whether the attribute of `node` says what its schema says anyway.
bool IsSchemaDefault(const Graph& graph, const ExternalSchemas& schemas, const Node& node, const std::string& name,
                     const Attribute& attribute);

// Lines that tell how `found` differs from `expected`, at most `limit` of each kind; none where they are the same.
std::vector<std::string> Differences(const CanonicalGraph& expected, const CanonicalGraph& found, size_t limit = 8);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_REPORT_CANONICAL_H_
