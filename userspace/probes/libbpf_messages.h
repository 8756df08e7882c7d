#pragma once
// What libbpf and the kernel's verifier say while something is tried: kept instead of printed, so that a
// refusal can be explained in one line.

#include <string>
#include <vector>

#include <bpf/libbpf.h>

namespace iotrace {

// Catches the messages of this thread as long as it lives; one at a time.
class LibbpfMessages {
public:
  LibbpfMessages();
  ~LibbpfMessages();
  LibbpfMessages(const LibbpfMessages&) = delete;
  LibbpfMessages& operator=(const LibbpfMessages&) = delete;

  // The line that says why the verifier refused a program; else libbpf's first warning; else "".
  std::string refusal() const;

private:
  libbpf_print_fn_t previous_;
  std::vector<std::string> warnings_;
};

}
