// Names of types that are no dense tensors.
#ifndef RULERUN_ENGINE_GRAPH_TYPE_NAME_H_
#define RULERUN_ENGINE_GRAPH_TYPE_NAME_H_

#include <string>

#include "engine/graph/graph.h"

namespace rulerun {

// "float", "seq(float)", "map(int64,string)", "optional(seq(float))", "sparse(float)"; "" for an unknown type.
std::string TypeName(const ValueType& type);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_GRAPH_TYPE_NAME_H_
