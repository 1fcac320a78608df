#include "kernels/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace rulerun {
namespace {

// Chunks per thread: enough for a thread that was preempted to be made up for, few enough to cost nothing.
constexpr int64_t kChunksPerThread = 4;
// Rounds of busy waiting before a thread sleeps: about as long as the gap between two kernels.
constexpr int kSpins = 1000;

void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield" ::: "memory");
#endif
}

// Waits until `value` differs from `old`: a short spin, then sleep.
void WaitWhile(const std::atomic<uint32_t>& value, uint32_t old, int spins) {
  for (int i = 0; i < spins; ++i) {
    if (value.load() != old) return;
    Pause();
  }
  value.wait(old);
}

}  // namespace

// One job at a time. A worker joins by raising `active` and then looking at `open`; the caller closes the job and then
// waits for `active` to fall to 0. As all of it is sequentially consistent, either the worker sees the job closed or
// the caller sees the worker, so the job's fields never change under a worker that uses them.
struct ThreadPool::State {
  std::vector<std::thread> workers;
  int spins = 0;
  std::atomic<uint32_t> epoch{0};  // raised for every job and to stop
  std::atomic<uint32_t> active{0};
  std::atomic<bool> open{false};
  std::atomic<bool> stop{false};
  bool busy = false;  // the caller is inside ParallelFor

  const std::function<void(int64_t, int64_t)>* body = nullptr;
  int64_t count = 0;
  int64_t chunk = 1;
  std::atomic<int64_t> next{0};

  void RunChunks() {
    while (true) {
      const int64_t begin = next.fetch_add(chunk);
      if (begin >= count) return;
      (*body)(begin, std::min(begin + chunk, count));
    }
  }

  void Work() {
    uint32_t seen = 0;
    while (true) {
      WaitWhile(epoch, seen, spins);
      seen = epoch.load();
      if (stop.load()) return;
      active.fetch_add(1);
      if (open.load()) RunChunks();
      if (active.fetch_sub(1) == 1) active.notify_all();
    }
  }
};

ThreadPool::ThreadPool(int threads) : state_(std::make_unique<State>()) {
  const auto cores = static_cast<int>(std::thread::hardware_concurrency());
  state_->spins = threads <= cores ? kSpins : 0;
  for (int i = 1; i < threads; ++i) state_->workers.emplace_back([state = state_.get()] { state->Work(); });
}

ThreadPool::~ThreadPool() {
  state_->stop.store(true);
  state_->epoch.fetch_add(1);
  state_->epoch.notify_all();
  for (std::thread& worker : state_->workers) worker.join();
}

int ThreadPool::threads() const { return static_cast<int>(state_->workers.size()) + 1; }

void ThreadPool::ParallelFor(int64_t count, int64_t grain,
                             const std::function<void(int64_t begin, int64_t end)>& body) {
  if (count <= 0) return;
  State& state = *state_;
  grain = std::max<int64_t>(grain, 1);
  if (state.workers.empty() || count <= grain || state.busy) {
    body(0, count);
    return;
  }
  state.busy = true;
  state.body = &body;
  state.count = count;
  const int64_t pieces = kChunksPerThread * threads();
  state.chunk = std::max(grain, count / pieces + (count % pieces != 0 ? 1 : 0));
  state.next.store(0);
  state.open.store(true);
  state.epoch.fetch_add(1);
  state.epoch.notify_all();
  state.RunChunks();
  state.open.store(false);
  for (uint32_t active = state.active.load(); active != 0; active = state.active.load()) {
    WaitWhile(state.active, active, state.spins);
  }
  state.busy = false;
}

}  // namespace rulerun
