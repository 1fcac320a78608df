// The passes, one function each. For the .cc files of this folder only; others go through FindPass.
#ifndef RULERUN_ENGINE_PASSES_PASSES_H_
#define RULERUN_ENGINE_PASSES_PASSES_H_

#include "engine/passes/pass.h"

namespace rulerun {

// Replaces what has no kernel by its function, ahead of the first level (inventory-fp32.md 1.1).
Result<PassResult> InlineLocalFunctions(const PassScope& scope);
// Gives every reader of a dequantized value its own node (inventory-qdq.md 3.2).
Result<PassResult> UniqueDq(const PassScope& scope);
// Lets equal small constants be one (inventory-fp32.md 2.3).
Result<PassResult> ConstantSharing(const PassScope& scope);
// Lets equal computations be one (inventory-fp32.md 2.4).
Result<PassResult> CommonSubexpressions(const PassScope& scope);
// Computes what depends on constants only (inventory-fp32.md 2.5).
Result<PassResult> ConstantFolding(const PassScope& scope);
// Lets a shape that is put together from sizes of the data be constant (inventory-fp32.md 2.7 A).
Result<PassResult> ReshapeFusion(const PassScope& scope);
// Splits once what several nodes take apart (inventory-fp32.md 4.6).
Result<PassResult> GatherSliceToSplit(const PassScope& scope);
// Gives nodes to the provider that has kernels for them (inventory-fp32.md 1.2 and 3).
Result<PassResult> Partition(const PassScope& scope);
// Moves quantization through operators that only move data (inventory-qdq.md 4.2).
Result<PassResult> QdqPropagation(const PassScope& scope);
// Runs float16 nodes that have no kernel in float (inventory-qdq.md 8).
Result<PassResult> InsertCasts(const PassScope& scope);
// Turns float16 constants behind a cast into float ones (inventory-qdq.md 9).
Result<PassResult> FuseFp16Initializers(const PassScope& scope);
// Makes signed 8-bit weights unsigned (inventory-qdq.md 6.7 and the lone node of 6.3).
Result<PassResult> WeightsS8ToU8(const PassScope& scope);
Result<PassResult> DqWeightsS8ToU8(const PassScope& scope);

// Refuses a model with a node that the platform has no kernel for, as ONNX Runtime does in the end.
Result<PassResult> RequireKernels(const PassScope& scope);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_PASSES_PASSES_H_
