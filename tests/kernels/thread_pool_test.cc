#include "kernels/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace rulerun {
namespace {

TEST(ThreadPool, CoversEveryIndexOnce) {
  for (const int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (const int64_t count : {0, 1, 2, 7, 100, 1000}) {
      for (const int64_t grain : {1, 3, 1000}) {
        std::vector<int> touched(static_cast<size_t>(count));
        pool.ParallelFor(count, grain, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) ++touched[static_cast<size_t>(i)];
        });
        EXPECT_EQ(touched, std::vector<int>(touched.size(), 1));
      }
    }
  }
}

// Many short jobs in a row: late workers must neither miss nor repeat one.
TEST(ThreadPool, SurvivesManyShortJobs) {
  ThreadPool pool(4);
  for (int round = 0; round < 3000; ++round) {
    std::atomic<int64_t> sum = 0;
    pool.ParallelFor(16, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) sum += i;
    });
    ASSERT_EQ(sum, 120);
  }
}

TEST(ThreadPool, ANestedLoopRunsOnItsCaller) {
  ThreadPool pool(3);
  std::atomic<int> count = 0;
  pool.ParallelFor(6, 1, [&](int64_t begin, int64_t end) {
    pool.ParallelFor(end - begin, 1, [&](int64_t inner_begin, int64_t inner_end) {
      count += static_cast<int>(inner_end - inner_begin);
    });
  });
  EXPECT_EQ(count, 6);
}

}  // namespace
}  // namespace rulerun
