#include "userspace/probes/known_work.h"

#include <csignal>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <liburing.h>

#include "bpf/contract.h"
#include "userspace/controller/device_bytes.h"

namespace iotrace {

namespace {

constexpr std::size_t kPages = 7;
constexpr int kPresentFaults = 5, kMisaligned = 11, kMappings = 13, kRefusedReads = 3, kPresentReads = 13;
constexpr int kWindows = 3, kUringRefused = 2;

// A folio leaves the cache as a whole or not at all, and those of 2 MiB are the largest in use with pages of
// 4 KiB.
constexpr std::size_t kFoundBytes = 2u << 20;
constexpr std::size_t kMostFoundPages = kFoundBytes / 4096;
// The kernel cuts a hint short at the readahead of the device, of which 128 KiB is the usual one.
constexpr std::size_t kPagesOfHint = 16;

// Longer than a disk may take for 14 reads, shorter than a user's patience.
constexpr timeval kPatience{.tv_sec = 5, .tv_usec = 0};

// What the child tells first: 0, or errno and what it was at.
struct Greeting {
  int error;
  std::array<char, 40> attempt;
  std::uint64_t mapping_address, mapping_bytes;
};

// ---- in the child -----------------------------------------------------------------------------------------

class Child {
public:
  Child(int line, int file_fd, const ProbeSet& probes) : line_(line) {
    Greeting greeting{};
    auto need = [&](bool done, const char* attempt) {
      if (done || *greeting.attempt.data()) return;
      greeting.error = errno;
      std::strncpy(greeting.attempt.data(), attempt, greeting.attempt.size() - 1);
    };
    page_bytes_ = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    std::array<char, 32> name{};
    *fmt::format_to_n(name.data(), name.size() - 1, "/proc/self/fd/{}", file_fd).out = '\0';
    // Descriptors of its own, one for each kind of readahead.
    fd_ = open(name.data(), O_RDONLY | O_CLOEXEC);
    need(fd_ >= 0, "open the file again");
    ahead_fd_ = open(name.data(), O_RDONLY | O_CLOEXEC);
    need(ahead_fd_ >= 0, "open the file again");
    struct stat file {};
    need(fstat(fd_, &file) == 0, "size the file");
    const auto file_pages = (static_cast<std::size_t>(file.st_size) + page_bytes_ - 1) / page_bytes_;
    errno = ENODATA;
    need(file_pages > 0, "find a page in the file");
    pages_ = std::min(file_pages, kPages);
    found_pages_ = std::min(file_pages, kFoundBytes / page_bytes_);

    map_ = static_cast<std::byte*>(mmap(nullptr, bytes(), PROT_READ, MAP_SHARED, fd_, 0));
    need(map_ != MAP_FAILED, "map the file");
    auto* gate_page = mmap(nullptr, page_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, probes.gate_fd(), 0);
    need(gate_page != MAP_FAILED, "map the gate");
    gate_ = static_cast<gate*>(gate_page);
    auto* ledger =
        mmap(nullptr, probes.ledger_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, probes.ledger_fd(), 0);
    need(ledger != MAP_FAILED, "map the page ledger");
    ledger_ = static_cast<volatile std::byte*>(ledger);
    // No page comes in but those that are touched.
    need(madvise(map_, bytes(), MADV_RANDOM) == 0, "advise RANDOM for its mapping");
    errno = posix_fadvise(fd_, 0, 0, POSIX_FADV_RANDOM);
    need(errno == 0, "advise RANDOM for its descriptor");
    note_what_is_found();
    has_ring_ = io_uring_queue_init(kUringRefused, &ring_, 0) == 0;

    greeting.mapping_address = reinterpret_cast<std::uint64_t>(map_);
    greeting.mapping_bytes = bytes();
    send(line_, &greeting, sizeof greeting, MSG_NOSIGNAL);
    if (*greeting.attempt.data()) _exit(1);
  }

  [[noreturn]] void live() {
    std::uint32_t closed = 0;
    window(closed);  // so that its own pages are mapped
    for (char go = 0; recv(line_, &go, 1, 0) == 1;) {
      evict();
      window(gate_->open);
      send(line_, &done_, sizeof done_, MSG_NOSIGNAL);
    }
    leave_as_found();
    _exit(0);
  }

private:
  std::size_t bytes() const { return pages_ * page_bytes_; }

  // Between the two readings of rusage nothing but the work may fault.
  __attribute__((noinline)) void window(std::uint32_t& open) {
    done_ = {};
    rusage before{}, after{};
    const auto delivered_before = device_read_bytes(getpid());
    getrusage(RUSAGE_SELF, &before);
    std::atomic_ref(open).store(1);
    work();
    std::atomic_ref(open).store(0);
    getrusage(RUSAGE_SELF, &after);
    done_.minor_faults = static_cast<std::uint64_t>(after.ru_minflt - before.ru_minflt);
    done_.major_faults = static_cast<std::uint64_t>(after.ru_majflt - before.ru_majflt);
    const auto delivered = device_read_bytes(getpid());
    if (delivered_before && delivered) done_.device_bytes = *delivered - *delivered_before;
  }

  void work() {
    for (std::size_t page = 0; page < pages_; ++page) touch(page);
    for (int i = 0; i < kPresentFaults; ++i) touch(0);
    for (int i = 1; i <= kMisaligned; ++i) {
      madvise(map_ + i, 1, MADV_SEQUENTIAL);
      ++done_.misaligned;
    }
    for (int i = 0; i < kMappings; ++i) {
      void* other = mmap(nullptr, page_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      munmap(other, page_bytes_);
      ++done_.mapped_unmapped;
    }
    const std::size_t there = resident_pages();
    evict();
    done_.evicted += there - std::min(there, resident_pages());
    for (std::size_t page = 0; page < pages_; ++page) read(fd_, page, page % 2 == 0);
    for (int i = 0; i < kPresentReads; ++i) read(fd_, 0, true);
    for (int i = 0; i < kRefusedReads; ++i) {
      std::byte none;
      (void)!pread(-1, &none, 1, 0);
      ++done_.reads_refused;
    }
    for (int i = 0; i < kWindows; ++i) read_ahead();
    if (has_ring_) refuse_by_ring();
  }

  // At the start of a file the kernel takes each read for the first of many.
  void read_ahead() {
    evict();
    const bool page_behind = pages_ > 1 && !resident(1);
    read(ahead_fd_, 0, false);
    if (page_behind && resident(1)) ++done_.windows;
  }

  void refuse_by_ring() {
    for (int i = 0; i < kUringRefused; ++i)
      io_uring_prep_madvise(io_uring_get_sqe(&ring_), map_ + 1 + i, 1, MADV_WILLNEED);
    const int given = io_uring_submit_and_wait(&ring_, kUringRefused);
    io_uring_cqe* done;
    for (int i = 0; i < given && io_uring_wait_cqe(&ring_, &done) == 0; ++i) {
      done_.uring_refused += done->res == -EINVAL;
      io_uring_cqe_seen(&ring_, done);
    }
  }

  // Faults, whatever was mapped before or by the faults on its neighbours.
  void touch(std::size_t page) {
    madvise(map_, bytes(), MADV_DONTNEED);
    const bool present = resident(page);
    [[maybe_unused]] std::byte byte = *const_cast<volatile std::byte*>(map_ + page * page_bytes_);
    ++(present ? done_.faults_present : done_.faults_absent);
    ledger_[page] = std::byte(gate_->mark);
    if (!present) ++done_.marked;
  }

  void read(int fd, std::size_t page, bool mark) {
    const bool present = resident(page);
    std::byte byte;
    if (pread(fd, &byte, 1, static_cast<off_t>(page * page_bytes_)) != 1) return;
    ++done_.reads;
    if (mark) ledger_[page] = std::byte(gate_->mark);
    if (present) return;
    ++done_.reads_absent;
    ++(mark ? done_.marked : done_.unmarked);
  }

  bool resident(std::size_t page) {
    unsigned char in_core = 0;
    mincore(map_ + page * page_bytes_, page_bytes_, &in_core);
    ++done_.residency_asked;
    return in_core & 1;
  }
  std::size_t resident_pages() {
    std::size_t pages = 0;
    for (std::size_t page = 0; page < pages_; ++page) pages += resident(page);
    return pages;
  }

  // All that may share a folio with the pages in question.
  void evict() {
    madvise(map_, bytes(), MADV_DONTNEED);
    const auto length = static_cast<off_t>(found_pages_ * page_bytes_);
    sync_file_range(fd_, 0, length,
                    SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
    posix_fadvise(fd_, 0, length, POSIX_FADV_DONTNEED);
  }

  void note_what_is_found() {
    void* all = mmap(nullptr, found_pages_ * page_bytes_, PROT_READ, MAP_SHARED, fd_, 0);
    if (all == MAP_FAILED) return;
    mincore(all, found_pages_ * page_bytes_, found_.data());
    munmap(all, found_pages_ * page_bytes_);
  }
  void leave_as_found() {
    evict();
    for (std::size_t page = 0; page < found_pages_; page += kPagesOfHint) {
      // Where one page was found the few about it may come back, too.
      const std::size_t pages = std::min(kPagesOfHint, found_pages_ - page);
      const auto* first = &found_[page];
      if (std::any_of(first, first + pages, [](unsigned char in_core) { return in_core & 1; }))
        posix_fadvise(fd_, static_cast<off_t>(page * page_bytes_), static_cast<off_t>(pages * page_bytes_),
                      POSIX_FADV_WILLNEED);
    }
  }

  int line_, fd_ = -1, ahead_fd_ = -1;
  io_uring ring_{};
  bool has_ring_ = false;
  std::size_t page_bytes_ = 0, pages_ = 0, found_pages_ = 0;
  std::byte* map_ = nullptr;
  gate* gate_ = nullptr;
  volatile std::byte* ledger_ = nullptr;
  std::array<unsigned char, kMostFoundPages> found_{};
  KnownWork done_{};
};

std::string death_of(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) return fmt::format("it was killed by SIG{}", sigabbrev_np(WTERMSIG(status)));
  return fmt::format("it ended with exit code {}", WEXITSTATUS(status));
}

}

// ---- in the parent ----------------------------------------------------------------------------------------

Result<KnownWorker> KnownWorker::start(int file_fd, const ProbeSet& probes) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return errno_error("make a socket pair", errno);
  UniqueFd ours(ends[0]), theirs(ends[1]);
  setsockopt(ours.get(), SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);

  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) return errno_error("fork the canary", errno);
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    close(ours.get());
    Child(theirs.get(), file_fd, probes).live();
  }
  theirs.reset();
  KnownWorker worker(pid, std::move(ours), {.tgid = pid});
  Greeting greeting{};
  if (recv(worker.line_.get(), &greeting, sizeof greeting, 0) != sizeof greeting)
    return Error{"the canary's process does not start"};
  if (*greeting.attempt.data()) return errno_error(greeting.attempt.data(), greeting.error);
  worker.target_.mapping_address = greeting.mapping_address;
  worker.target_.mapping_bytes = greeting.mapping_bytes;
  return worker;
}

KnownWorker::KnownWorker(KnownWorker&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), line_(std::move(other.line_)), target_(other.target_) {}

KnownWorker::~KnownWorker() {
  if (pid_ < 0) return;
  shutdown(line_.get(), SHUT_WR);
  char end;
  if (recv(line_.get(), &end, 1, 0) != 0) kill(pid_, SIGKILL);
  death_of(pid_);
}

Result<KnownWork> KnownWorker::run() {
  KnownWork done{};
  const char go = 1;
  if (send(line_.get(), &go, 1, MSG_NOSIGNAL) == 1) {
    const ssize_t told = recv(line_.get(), &done, sizeof done, 0);
    if (told == sizeof done) return done;
    if (told < 0) {
      const int error = errno;
      kill(pid_, SIGKILL);
      return errno_error("wait for the canary's process", error, "does the disk hang?");
    }
  }
  return Error{"the canary's process is gone: " + death_of(std::exchange(pid_, -1))};
}

}
