// What Java's FileChannel (Lucene's NIOFSDirectory) does around each pread(2): so that close() can wake the
// threads that sit in a system call, every read first enters its native thread id into a table and leaves
// it afterwards, both under one lock per channel. All threads of the repetition read through one channel.
//
// A heap ByteBuffer costs a copy more: the read goes to a temporary direct buffer, from there to the heap.

#include <pthread.h>
#include <unistd.h>

#include <mutex>
#include <optional>
#include <vector>

#include "userspace/strategies/private_buffer.h"
#include "userspace/strategies/read_exactly.h"
#include "userspace/strategies/strategy.h"

namespace iotrace {

namespace {

// Which threads are inside a read. Java starts with two slots and doubles when they are all taken; here each
// reader adds its slot when it is built, so that no read allocates.
class ThreadTable {
public:
  void add_slot() {
    std::lock_guard lock(mutex_);
    slots_.push_back(kFree);
  }

  std::size_t enter(pthread_t thread) {
    std::lock_guard lock(mutex_);
    std::size_t slot = 0;
    while (slots_[slot] != kFree) ++slot;
    slots_[slot] = thread;
    return slot;
  }

  void leave(std::size_t slot) {
    std::lock_guard lock(mutex_);
    slots_[slot] = kFree;
  }

private:
  static constexpr pthread_t kFree = 0;

  std::mutex mutex_;
  std::vector<pthread_t> slots_;  // at least one per reader: enter() always finds a free one
};

class FileChannelReader final : public Reader {
public:
  FileChannelReader(int fd, std::shared_ptr<ThreadTable> threads, PrivateBuffer direct,
                    std::optional<PrivateBuffer> heap)
      : fd_(fd), threads_(std::move(threads)), direct_(std::move(direct)), heap_(std::move(heap)) {
    threads_->add_slot();
  }

  Status read_batch(std::span<const std::uint64_t> offsets, Sink& sink) override {
    const auto read_once = [this](std::span<std::byte> to, std::uint64_t offset) {
      const std::size_t slot = threads_->enter(::pthread_self());
      const ssize_t got = ::pread(fd_, to.data(), to.size(), static_cast<off_t>(offset));
      const int error = errno;
      threads_->leave(slot);
      errno = error;
      return got;
    };
    const std::span<std::byte> direct = direct_.bytes();
    for (std::uint64_t offset : offsets) {
      if (Status read = read_exactly("pread", direct, direct.size(), offset, read_once); !read) return read;
      if (heap_) std::memcpy(heap_->data(), direct.data(), direct.size());
      sink.consume(heap_ ? heap_->bytes() : direct);
    }
    return {};
  }

private:
  const int fd_;
  const std::shared_ptr<ThreadTable> threads_;
  PrivateBuffer direct_;
  std::optional<PrivateBuffer> heap_;
};

template<bool into_heap> Result<MakeReader> prepare(const SourceFile& file, const ReadShape& shape) {
  return MakeReader(
      [file, shape, threads = std::make_shared<ThreadTable>()]() -> Result<std::unique_ptr<Reader>> {
        auto direct = PrivateBuffer::make(shape.read_size_bytes);
        if (!direct) return direct.error();
        std::optional<PrivateBuffer> heap;
        if (into_heap) {
          auto buffer = PrivateBuffer::make(shape.read_size_bytes);
          if (!buffer) return buffer.error();
          heap = std::move(*buffer);
        }
        return std::unique_ptr<Reader>(
            new FileChannelReader(file.fd, threads, std::move(*direct), std::move(heap)));
      });
}

}

Strategy filechannel_strategy() {
  return {.name = "filechannel",
          .summary = "pread(2) behind the lock and thread table of Java's FileChannel, direct ByteBuffer",
          .prepare = prepare<false>};
}

Strategy filechannel_heap_strategy() {
  return {.name = "filechannel-heap",
          .summary = "the same, plus the copy into a heap ByteBuffer",
          .prepare = prepare<true>};
}

}
