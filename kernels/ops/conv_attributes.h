// What a node says about a float convolution, in whatever layout.
#ifndef RULERUN_KERNELS_OPS_CONV_ATTRIBUTES_H_
#define RULERUN_KERNELS_OPS_CONV_ATTRIBUTES_H_

#include <cstdint>

#include "engine/base/result.h"
#include "engine/graph/attribute.h"
#include "kernels/geometry.h"
#include "kernels/ops/activation.h"

namespace rulerun {

struct ConvAttributes {
  WindowAttributes window;
  int64_t group = 1;
  Activation activation;
};

Result<ConvAttributes> ReadConvAttributes(const AttributeMap& attributes);

}  // namespace rulerun

#endif  // RULERUN_KERNELS_OPS_CONV_ATTRIBUTES_H_
