// Memory for tensors: plain allocation, and a pool that gives freed buffers out again.
#ifndef RULERUN_KERNELS_BUFFER_H_
#define RULERUN_KERNELS_BUFFER_H_

#include <cstddef>
#include <memory>

#include "engine/base/result.h"
#include "engine/graph/tensor.h"

namespace rulerun {

inline constexpr size_t kBufferAlignment = 64;

// Uninitialised memory, or nullptr where the machine has not as much.
std::shared_ptr<const std::byte> AllocateBuffer(size_t bytes);

// A tensor with uninitialised elements (strings: empty ones), or an error for a size that memory cannot hold.
Result<Tensor> AllocateTensor(DataType type, Dims dims);

// Recycles buffers. Each goes back when its last owner lets go of it, on any thread, even after the pool is gone.
class BufferPool {
 public:
  BufferPool();
  ~BufferPool();
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;

  Result<Tensor> Allocate(DataType type, Dims dims);
  size_t bytes_allocated() const;  // by the pool since it was made, reuse not counted

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace rulerun

#endif  // RULERUN_KERNELS_BUFFER_H_
