// The handlers of the transpose optimizer. Each returns false only if it changed nothing.
#ifndef RULERUN_ENGINE_PASSES_LAYOUT_HANDLERS_H_
#define RULERUN_ENGINE_PASSES_LAYOUT_HANDLERS_H_

#include "engine/passes/layout/push.h"
#include "engine/passes/layout/transpose_table.h"

namespace rulerun {

// handlers.cc: the data keeps its shape, or only an axis is renamed.
bool PushSimple(const Push& push, const HandlerRow& row);            // elementwise
bool PushBroadcast(const Push& push, const HandlerRow& row);         // elementwise, inputs of a lower rank unsqueezed
bool PushAxis(const Push& push, const HandlerRow& row);              // `axis` is renamed
bool PushSoftMax(const Push& push, const HandlerRow& row);           // `axis`, or the axis between two sides
bool PushQuantize(const Push& push, const HandlerRow& row);          // `axis`, where the parameters are no scalars
bool PushChannelsLastFlag(const Push& push, const HandlerRow& row);  // `channels_last` is flipped
bool PushReplace(const Push& push, const HandlerRow& row);           // another operator works the other way round

// handlers_axes.cc: axes disappear, appear or are picked.
bool PushReduce(const Push& push, const HandlerRow& row);
bool PushArg(const Push& push, const HandlerRow& row);
bool PushSqueeze(const Push& push, const HandlerRow& row);
bool PushUnsqueeze(const Push& push, const HandlerRow& row);
bool PushSlice(const Push& push, const HandlerRow& row);
bool PushGather(const Push& push, const HandlerRow& row);

// handlers_sizes.cc: an input or attribute holds a number per axis.
bool PushPad(const Push& push, const HandlerRow& row);
bool PushTile(const Push& push, const HandlerRow& row);
bool PushResize(const Push& push, const HandlerRow& row);
bool PushShape(const Push& push, const HandlerRow& row);

// handlers_reshape.cc: two Transposes, or a Transpose and what amounts to one.
bool PushTranspose(const Push& push, const HandlerRow& row);
bool PushReshape(const Push& push, const HandlerRow& row);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_PASSES_LAYOUT_HANDLERS_H_
