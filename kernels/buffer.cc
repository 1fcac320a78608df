#include "kernels/buffer.h"

#include <unistd.h>

#include <map>
#include <mutex>
#include <new>
#include <utility>

#include "engine/base/codes.h"
#include "engine/base/text.h"

namespace rulerun {
namespace {

// More than this cannot be in use at once; asking the allocator for it may still "succeed" and die on first touch.
size_t PhysicalMemory() {
  static const size_t bytes =
      static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGE_SIZE));
  return bytes;
}

std::byte* AllocateRaw(size_t bytes) {
  if (bytes > PhysicalMemory()) return nullptr;
  return static_cast<std::byte*>(::operator new (bytes, std::align_val_t{kBufferAlignment}, std::nothrow));
}

void FreeRaw(const std::byte* data) {
  ::operator delete (const_cast<std::byte*>(data), std::align_val_t{kBufferAlignment});  // NOLINT
}

Error TooLarge(DataType type, const Dims& dims) {
  std::vector<std::string> sizes;
  for (const int64_t dim : dims) sizes.push_back(std::to_string(dim));
  return Error{
      Code::kNoMemory,
      "a tensor of type " + std::string(Name(type)) + " and shape [" + Join(sizes, ", ") + "] does not fit in memory",
      "", "check the sizes of the inputs and the shape computations of the model"};
}

// The bytes a tensor takes, or nullopt where they cannot be counted. Never 0, so that there is always an address.
std::optional<size_t> BytesOf(DataType type, const Dims& dims) {
  const std::optional<int64_t> count = ElementCount(dims);
  if (!count || *count > (int64_t{1} << 48)) return std::nullopt;
  return ByteSize(type, *count) + 1;
}

}  // namespace

std::shared_ptr<const std::byte> AllocateBuffer(size_t bytes) {
  std::byte* data = AllocateRaw(bytes);
  return data == nullptr ? nullptr : std::shared_ptr<const std::byte>(data, FreeRaw);
}

Result<Tensor> AllocateTensor(DataType type, Dims dims) {
  const std::optional<size_t> bytes = BytesOf(type, dims);
  if (!bytes) return TooLarge(type, dims);
  if (type == DataType::kString) {
    if (static_cast<size_t>(*ElementCount(dims)) > PhysicalMemory() / sizeof(std::string)) return TooLarge(type, dims);
    return Tensor(type, std::move(dims));
  }
  std::shared_ptr<const std::byte> data = AllocateBuffer(*bytes);
  if (data == nullptr) return TooLarge(type, dims);
  return Tensor(type, std::move(dims), std::move(data));
}

struct BufferPool::State {
  std::mutex mutex;
  std::multimap<size_t, const std::byte*> free;
  size_t allocated = 0;

  ~State() {
    for (const auto& [size, data] : free) FreeRaw(data);
  }
};

BufferPool::BufferPool() : state_(std::make_shared<State>()) {}
BufferPool::~BufferPool() = default;

size_t BufferPool::bytes_allocated() const {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  return state_->allocated;
}

Result<Tensor> BufferPool::Allocate(DataType type, Dims dims) {
  if (type == DataType::kString) return AllocateTensor(type, std::move(dims));
  const std::optional<size_t> bytes = BytesOf(type, dims);
  if (!bytes) return TooLarge(type, dims);
  size_t size = (*bytes + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
  const std::byte* data = nullptr;
  {
    const std::lock_guard<std::mutex> lock(state_->mutex);
    const auto fit = state_->free.lower_bound(size);
    // A buffer more than twice too large is left for a tensor that needs it.
    if (fit != state_->free.end() && fit->first / 2 <= size) {
      size = fit->first;
      data = fit->second;
      state_->free.erase(fit);
    }
  }
  if (data == nullptr) {
    data = AllocateRaw(size);
    if (data == nullptr) return TooLarge(type, dims);
    const std::lock_guard<std::mutex> lock(state_->mutex);
    state_->allocated += size;
  }
  const auto give_back = [state = state_, size](const std::byte* freed) {
    const std::lock_guard<std::mutex> lock(state->mutex);
    state->free.emplace(size, freed);
  };
  return Tensor(type, std::move(dims), std::shared_ptr<const std::byte>(data, give_back));
}

}  // namespace rulerun
