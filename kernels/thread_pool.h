// One pool of threads, shared by all kernels of an executor.
#ifndef RULERUN_KERNELS_THREAD_POOL_H_
#define RULERUN_KERNELS_THREAD_POOL_H_

#include <cstdint>
#include <functional>
#include <memory>

namespace rulerun {

class ThreadPool {
 public:
  // `threads` counts the caller; 1 runs everything on the caller's thread.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const;
  // Calls body(begin, end) over [0, count) in chunks of at least `grain`; returns when all are done. Chunks may run in
  // any order and on any thread, so results must not depend on how the range is cut. Not reentrant.
  void ParallelFor(int64_t count, int64_t grain, const std::function<void(int64_t begin, int64_t end)>& body);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rulerun

#endif  // RULERUN_KERNELS_THREAD_POOL_H_
