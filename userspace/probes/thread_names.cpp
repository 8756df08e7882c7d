#include "userspace/probes/thread_names.h"

#include <fstream>

#include <fmt/format.h>

namespace iotrace {

std::string thread_name(pid_t tgid, std::uint32_t tid) {
  // Of any process, a thread is found by its own number.
  std::ifstream file(tgid ? fmt::format("/proc/{}/task/{}/comm", tgid, tid)
                          : fmt::format("/proc/{}/comm", tid));
  std::string name;
  return std::getline(file, name) ? name : fmt::format("thread {}", tid);
}

}
