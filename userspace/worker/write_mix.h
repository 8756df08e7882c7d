#pragma once
// --write-pct: some reads of a batch are writes of the same size at the same offset instead. Only a scratch
// file, whose bytes mean nothing, is written to.

#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "analysis/result.h"
#include "userspace/strategies/private_buffer.h"
#include "userspace/strategies/strategy.h"

namespace iotrace {

struct WriteShape {
  double write_pct = 0;  // in (0, 100]
  std::uint64_t read_size_bytes = 0;
  std::uint32_t reads_per_op = 0;
  std::uint64_t seed = 0;
  std::uint32_t round = 0, thread = 0;
};

// One thread's writes. The same shape picks the same reads of the same batches.
class WriteMix {
public:
  //   file    opened for writing; its mapping, where it has one, is PROT_WRITE
  //   errors  failed: no memory
  static Result<std::unique_ptr<WriteMix>> make(const SourceFile& file, const WriteShape& shape);

  // Parts the batch, and returns the offsets that are still read. Valid until the next call.
  std::span<const std::uint64_t> keep_reads(std::span<const std::uint64_t> offsets);

  // Writes at the other offsets: a store into the mapping where there is one, else pwrite(2). The bytes are
  // the thread's own random ones, as incompressible as those that they replace.
  //   errors  failed: pwrite, its errno and the offset; a short write is ENOSPC "short write"
  Status write();

  // The stream from its beginning, whatever was drawn of it in a warm-up.
  void start_over();

  std::uint64_t written() const { return written_; }  // writes since then

private:
  WriteMix(const SourceFile& file, const WriteShape& shape, PrivateBuffer bytes);

  SourceFile file_;
  WriteShape shape_;
  PrivateBuffer bytes_;
  std::mt19937_64 generator_;
  std::uint64_t threshold_;  // of 2^63: a random number below it makes a write
  std::vector<std::uint64_t> reads_, writes_;
  std::uint64_t written_ = 0;
};

}
