#include "kernels/int8/gemm.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

#include "engine/base/codes.h"
#include "kernels/buffer.h"

namespace rulerun::int8 {
namespace {

constexpr int64_t kBlockBytes = 96 * 1024;  // of A that a thread works on at a time: stays in L2 beside a panel of B
constexpr int64_t kSlack = 64;              // bytes that vector loads may read behind the end

int64_t RoundUp(int64_t value, int64_t step) { return (value + step - 1) / step * step; }

Result<std::shared_ptr<const std::byte>> Zeroed(int64_t bytes) {
  std::shared_ptr<const std::byte> buffer = AllocateBuffer(static_cast<size_t>(bytes));
  if (buffer == nullptr) {
    return Error{Code::kNoMemory, "no memory for " + std::to_string(bytes) + " bytes of packed weights", "", ""};
  }
  std::memset(const_cast<std::byte*>(buffer.get()), 0, static_cast<size_t>(bytes));  // NOLINT: not shared yet
  return buffer;
}

}  // namespace

Result<PackedMatrix> PackedMatrix::Pack(const GemmCode& code, const MatrixSource& source,
                                        std::span<const int64_t> runs) {
  PackedMatrix packed;
  packed.code_ = &code;
  packed.columns_ = source.columns;
  packed.runs_.assign(runs.begin(), runs.end());
  for (const int64_t run : runs) {
    packed.k_ += run;
    packed.groups_ += (run + code.group - 1) / code.group;
  }
  const int64_t padded = RoundUp(source.columns, code.lanes);
  RULERUN_ASSIGN(packed.data_, Zeroed(packed.groups_ * padded * code.group + kSlack));
  RULERUN_ASSIGN(packed.ones_, Zeroed(packed.groups_ * code.lanes * code.group + kSlack));
  packed.column_sums_.assign(static_cast<size_t>(source.columns), 0);

  auto* ones = reinterpret_cast<int8_t*>(const_cast<std::byte*>(packed.ones_.get()));  // NOLINT: not shared yet
  auto* data = reinterpret_cast<int8_t*>(const_cast<std::byte*>(packed.data_.get()));  // NOLINT: not shared yet
  const auto flip = static_cast<uint8_t>(source.is_signed ? 0 : 0x80);
  int64_t group = 0;
  int64_t k = 0;
  for (const int64_t run : runs) {
    for (int64_t i = 0; i < run; ++i, ++k) {
      const int64_t at_group = group + i / code.group;
      const int64_t within = i % code.group;
      for (int64_t lane = 0; lane < code.lanes; ++lane) ones[(at_group * code.lanes + lane) * code.group + within] = 1;
      const uint8_t* from = source.data + source.k_offsets[static_cast<size_t>(k)];
      for (int64_t first = 0; first < source.columns; first += code.panel_columns) {
        const int64_t columns = std::min(code.panel_columns, source.columns - first);
        const int64_t width = std::min(code.panel_columns, padded - first);
        int8_t* to = data + (first * packed.groups_ + at_group * width) * code.group + within;
        int32_t* sums = packed.column_sums_.data() + first;
        for (int64_t n = 0; n < columns; ++n) {
          const auto value = static_cast<int8_t>(from[(first + n) * source.column_stride] ^ flip);
          to[n * code.group] = value;
          sums[n] = WrapAdd(sums[n], value);
        }
      }
    }
    group += (run + code.group - 1) / code.group;
  }
  packed.offsets_ = packed.OffsetsOfRuns(std::vector<int64_t>(runs.size(), 0));
  return packed;
}

Result<PackedMatrix> PackedMatrix::Pack(const GemmCode& code, const uint8_t* data, bool is_signed, int64_t k, int64_t n,
                                        bool transposed) {
  std::vector<int64_t> k_offsets(static_cast<size_t>(k));
  for (int64_t i = 0; i < k; ++i) k_offsets[static_cast<size_t>(i)] = transposed ? i : i * n;
  return Pack(code, MatrixSource{data, is_signed, k_offsets, n, transposed ? k : 1}, std::array<int64_t, 1>{k});
}

std::vector<int64_t> PackedMatrix::OffsetsOfRuns(std::span<const int64_t> starts) const {
  std::vector<int64_t> offsets;
  offsets.reserve(static_cast<size_t>(groups_));
  for (size_t run = 0; run < runs_.size(); ++run) {
    for (int64_t i = 0; i < runs_[run]; i += code_->group) offsets.push_back(starts[run] + i);
  }
  return offsets;
}

std::vector<int32_t> PackedMatrix::ColumnOffsets(int32_t a_zero, std::span<const int32_t> b_zero,
                                                 std::span<const int32_t> bias) const {
  std::vector<int32_t> offsets(column_sums_.size());
  const auto k = static_cast<int32_t>(static_cast<uint32_t>(k_));
  for (size_t n = 0; n < offsets.size(); ++n) {
    const int32_t sum = WrapSub(column_sums_[n], WrapMul(k, b_zero[n]));
    offsets[n] = WrapSub(bias.empty() ? 0 : bias[n], WrapMul(a_zero, sum));
  }
  return offsets;
}

std::byte* Scratch(size_t slot, size_t bytes) {
  struct Area {
    std::unique_ptr<std::byte[]> memory;
    size_t size = 0;
  };
  thread_local std::array<Area, 4> areas;
  Area& area = areas[slot];
  if (area.size < bytes) {
    area.size = bytes;
    area.memory = nullptr;
    area.memory = std::make_unique_for_overwrite<std::byte[]>(bytes + 64);
  }
  const auto address = reinterpret_cast<uintptr_t>(area.memory.get());
  return area.memory.get() + (64 - address % 64) % 64;
}

namespace {

// How a product is cut up for threads.
struct Split {
  int64_t block_rows = 1;
  int64_t row_blocks = 0;
  int64_t block_panels = 1;
  int64_t column_blocks = 0;

  int64_t count() const { return row_blocks * column_blocks; }
};

Split SplitFor(const GemmJob& job, int64_t wanted_pieces) {
  const GemmCode& code = job.b->code();
  const int64_t row_bytes = std::max<int64_t>(1, job.b->groups() * code.group * code.element_bytes);
  Split split;
  split.block_rows =
      std::clamp(kBlockBytes / row_bytes / code.tile_rows * code.tile_rows, code.tile_rows, kMaxBlockRows);
  if (wanted_pieces > 1) {
    const int64_t fair = RoundUp((job.rows + wanted_pieces - 1) / wanted_pieces, code.tile_rows);
    split.block_rows = std::min(split.block_rows, std::max(fair, 4 * code.tile_rows));
  }
  split.row_blocks = (job.rows + split.block_rows - 1) / split.block_rows;
  const int64_t panels = job.b->panels();
  const int64_t cuts = std::clamp<int64_t>(
      (wanted_pieces + split.row_blocks - 1) / std::max<int64_t>(split.row_blocks, 1), 1, std::max<int64_t>(panels, 1));
  split.block_panels = std::max<int64_t>(1, (panels + cuts - 1) / cuts);
  split.column_blocks = (panels + split.block_panels - 1) / split.block_panels;
  return split;
}

void RunPiece(const GemmJob& job, const Split& split, bool a_is_signed, int64_t piece) {
  const PackedMatrix& b = *job.b;
  const GemmCode& code = b.code();
  const int64_t first_row = piece / split.column_blocks * split.block_rows;
  const int64_t first_panel = piece % split.column_blocks * split.block_panels;
  const int64_t rows = std::min(split.block_rows, job.rows - first_row);
  const uint8_t* a = job.a + first_row * b.k();

  std::array<const void*, static_cast<size_t>(kMaxBlockRows)> starts;
  // As it is, A can be used where its form is bytes and groups do not read beyond a row.
  if (code.element_bytes == 1 && !a_is_signed && b.k() % code.group == 0) {
    for (int64_t r = 0; r < rows; ++r) starts[static_cast<size_t>(r)] = a + r * b.k();
  } else {
    const int64_t stride = RoundUp(b.groups() * code.group * code.element_bytes, 64);
    std::byte* converted = Scratch(0, static_cast<size_t>(rows * stride + kSlack));
    for (int64_t r = 0; r < rows; ++r) {
      code.convert(a + r * b.k(), b.k(), a_is_signed, converted + r * stride);
      // Padding meets zeros of B; it only has to be initialised.
      const int64_t used = b.k() * code.element_bytes;
      std::memset(converted + r * stride + used, 0, static_cast<size_t>(stride - used));
      starts[static_cast<size_t>(r)] = converted + r * stride;
    }
  }

  GemmBlock block;
  block.b = &b;
  block.rows = starts.data();
  block.offsets = b.offsets().data();
  block.row_count = rows;
  block.first_row = first_row;
  block.first_panel = first_panel;
  block.end_panel = std::min(first_panel + split.block_panels, b.panels());
  block.epilogue = job.epilogue;
  const int64_t column = first_panel * code.panel_columns;
  block.out = static_cast<std::byte*>(job.out) +
              static_cast<size_t>(first_row * b.columns() + column) * job.epilogue->ElementBytes();
  block.out_stride = b.columns();
  code.multiply(block);
}

}  // namespace

void Gemm(ThreadPool& pool, std::span<const GemmJob> jobs, bool a_is_signed) {
  if (jobs.empty() || jobs[0].b->columns() == 0 || jobs[0].rows == 0) return;
  const auto count = static_cast<int64_t>(jobs.size());
  const int64_t wanted = pool.threads() == 1 ? 1 : (4 * pool.threads() + count - 1) / count;
  // All jobs have the same shape.
  const Split split = SplitFor(jobs[0], wanted);
  pool.ParallelFor(count * split.count(), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      RunPiece(jobs[static_cast<size_t>(i / split.count())], split, a_is_signed, i % split.count());
    }
  });
}

}  // namespace rulerun::int8
