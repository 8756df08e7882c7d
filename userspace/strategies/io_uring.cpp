// io_uring: all reads of the batch in flight at once, through a ring of the thread's own. File and buffers
// are registered, so the kernel neither looks up the one nor pins the others on each read. A batch takes one
// io_uring_enter(2) unless a read comes short.
//
// With O_DIRECT each read fetches the smallest aligned range that covers the request, as in direct.cpp;
// through the page cache the alignment is 1 and the range is the request.

#include <liburing.h>

#include <vector>

#include "userspace/strategies/direct_io.h"
#include "userspace/strategies/private_buffer.h"
#include "userspace/strategies/read_exactly.h"
#include "userspace/strategies/strategy.h"

namespace iotrace {

namespace {

struct CloseRing {
  void operator()(io_uring* ring) const {
    io_uring_queue_exit(ring);
    delete ring;
  }
};
using Ring = std::unique_ptr<io_uring, CloseRing>;

// Best first. DEFER_TASKRUN (Linux 6.1) finishes reads when the thread waits for them instead of
// interrupting it, and needs SINGLE_ISSUER: the thread that opens the ring is the only one that submits.
constexpr unsigned kSetupFlags[] = {
    IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_SUBMIT_ALL,
    IORING_SETUP_COOP_TASKRUN | IORING_SETUP_SUBMIT_ALL,
    0,
};

Error setup_error(int error) {
  if (error == ENOSYS) return unsupported("io_uring_setup: ENOSYS; this kernel is built without io_uring");
  if (error == EPERM)
    return unsupported("io_uring_setup: EPERM; io_uring is disabled for this user: see sysctl "
                       "kernel.io_uring_disabled, or the seccomp filter of the container");
  if (error == EINVAL)
    return errno_error("io_uring_setup", error, "a ring holds at most 32768 reads: use fewer reads per op");
  return errno_error("io_uring_setup", error);
}

Result<Ring> open_ring(std::uint32_t entries) {
  auto memory = std::make_unique<io_uring>();
  int error = EINVAL;
  for (unsigned flags : kSetupFlags) {
    error = -io_uring_queue_init(entries, memory.get(), flags);
    if (error != EINVAL) break;
  }
  if (error != 0) return setup_error(error);
  return Ring(memory.release());
}

Status register_with(io_uring* ring, int fd, std::span<std::byte> buffers) {
  if (int got = io_uring_register_files(ring, &fd, 1); got < 0)
    return errno_error("io_uring: register the file", -got);

  const iovec memory = {buffers.data(), buffers.size()};
  if (int got = io_uring_register_buffers(ring, &memory, 1); got < 0)
    return errno_error(fmt::format("io_uring: register {} bytes of buffers", buffers.size()), -got,
                       got == -ENOMEM ? "raise RLIMIT_MEMLOCK (ulimit -l), or read less per op" : "");

  // Spares the look-up of the ring itself on each enter. Missing before Linux 5.18, where nothing is lost.
  io_uring_register_ring_fd(ring);
  return {};
}

class IoUringReader final : public Reader {
public:
  static Result<std::unique_ptr<Reader>> make(int fd, const ReadShape& shape, std::uint64_t alignment) {
    const std::uint64_t slot = round_up(shape.read_size_bytes, alignment) + (alignment > 1 ? alignment : 0);
    auto buffers = PrivateBuffer::make(slot * shape.reads_per_op);
    if (!buffers) return buffers.error();
    auto ring = open_ring(shape.reads_per_op);
    if (!ring) return ring.error();
    if (Status registered = register_with(ring->get(), fd, buffers->bytes()); !registered)
      return registered.error();
    return std::unique_ptr<Reader>(
        new IoUringReader(shape, alignment, slot, std::move(*buffers), std::move(*ring)));
  }

  Status read_batch(std::span<const std::uint64_t> offsets, Sink& sink) override {
    for (std::uint32_t read = 0; read < offsets.size(); ++read) {
      done_[read] = 0;
      queue(read, offsets[read]);
    }
    // Also after an error all reads are waited for: the kernel still writes to their buffers.
    Status status;
    for (auto in_flight = static_cast<unsigned>(offsets.size()); in_flight > 0;) {
      const int submitted = io_uring_submit_and_wait(ring_.get(), in_flight);
      if (submitted < 0 && submitted != -EINTR) return errno_error("io_uring_enter", -submitted);

      unsigned seen = 0;
      unsigned head;
      io_uring_cqe* completion;
      io_uring_for_each_cqe(ring_.get(), head, completion) {
        ++seen;
        if (finish(*completion, offsets, sink, status)) --in_flight;
      }
      io_uring_cq_advance(ring_.get(), seen);
    }
    return status;
  }

private:
  IoUringReader(const ReadShape& shape, std::uint64_t alignment, std::uint64_t slot, PrivateBuffer buffers,
                Ring ring)
      : read_size_(shape.read_size_bytes), alignment_(alignment), slot_(slot), buffers_(std::move(buffers)),
        done_(shape.reads_per_op), ring_(std::move(ring)) {}

  // The request's place in the range that is fetched for it.
  std::uint64_t into_range(std::uint64_t offset) const { return offset % alignment_; }

  // The memory of one read, as long as the range.
  std::span<std::byte> buffer(std::uint32_t read, std::uint64_t offset) const {
    return buffers_.bytes().subspan(read * slot_, round_up(into_range(offset) + read_size_, alignment_));
  }

  // Queues what is missing of one read. There is always a free entry: the queue holds reads_per_op, and no
  // read is in it twice.
  void queue(std::uint32_t read, std::uint64_t offset) {
    const std::span<std::byte> missing = buffer(read, offset).subspan(done_[read]);
    io_uring_sqe* entry = io_uring_get_sqe(ring_.get());
    io_uring_prep_read_fixed(entry, kFileIndex, missing.data(), static_cast<unsigned>(missing.size()),
                             offset - into_range(offset) + done_[read], kBufferIndex);
    io_uring_sqe_set_flags(entry, IOSQE_FIXED_FILE);
    entry->user_data = read;
  }

  // True: this read is over. False: it came short and the rest is queued again.
  bool finish(const io_uring_cqe& completion, std::span<const std::uint64_t> offsets, Sink& sink,
              Status& status) {
    const auto read = static_cast<std::uint32_t>(completion.user_data);
    const std::uint64_t offset = offsets[read];
    const std::uint64_t needed = into_range(offset) + read_size_;
    int got = completion.res;
    if (got > 0) {
      done_[read] += static_cast<std::uint64_t>(got);
      if (done_[read] >= needed) {
        sink.consume(buffer(read, offset).subspan(into_range(offset), read_size_));
        return true;
      }
      if (done_[read] % alignment_ == 0) {
        queue(read, offset);
        return false;
      }
      got = 0;  // O_DIRECT ends inside a block only at the end of the file
    }
    if (status)
      status =
          got == 0
              ? short_read("io_uring read", read_size_, offset)
              : errno_error(fmt::format("io_uring read of {} bytes at offset {}", read_size_, offset), -got);
    return true;
  }

  static constexpr int kFileIndex = 0;
  static constexpr int kBufferIndex = 0;

  const std::uint64_t read_size_;
  const std::uint64_t alignment_;
  const std::uint64_t slot_;         // bytes of buffer for each read
  PrivateBuffer buffers_;            // outlives the ring that writes to it
  std::vector<std::uint64_t> done_;  // [reads_per_op] bytes of the range read so far
  Ring ring_;
};

Result<MakeReader> prepare(const SourceFile& file, const ReadShape& shape) {
  return MakeReader([file, shape] { return IoUringReader::make(file.fd, shape, 1); });
}

Result<MakeReader> prepare_direct(const SourceFile& file, const ReadShape& shape) {
  auto alignment = switch_to_direct_io(file.fd);
  if (!alignment) return alignment.error();
  return MakeReader(
      [file, shape, alignment = *alignment] { return IoUringReader::make(file.fd, shape, alignment); });
}

}

Strategy io_uring_strategy() {
  return {.name = "io_uring",
          .summary = "all reads of the batch in flight at once, registered file and buffers",
          .prepare = prepare};
}

Strategy io_uring_direct_strategy() {
  return {.name = "io_uring-direct",
          .summary = "the same with O_DIRECT, the smallest aligned range that covers each request",
          .bypasses_cache = true,
          .prepare = prepare_direct};
}

}
