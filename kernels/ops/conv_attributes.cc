#include "kernels/ops/conv_attributes.h"

#include "kernels/ops/op.h"

namespace rulerun {

Result<ConvAttributes> ReadConvAttributes(const AttributeMap& attributes) {
  ConvAttributes read;
  RULERUN_ASSIGN(read.window, ReadWindowAttributes(attributes));
  read.group = IntOr(attributes, "group", 1);
  RULERUN_ASSIGN(read.activation, Activation::Make(StringOr(attributes, "activation", ""),
                                                   FloatsOr(attributes, "activation_params", {})));
  return read;
}

}  // namespace rulerun
