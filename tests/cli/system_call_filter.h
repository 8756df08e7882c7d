#pragma once
// Takes a system call away from this process and its children, as containers do by seccomp.

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace iotrace::test {

// The calls whose argument number `argument` is `value`. (Its lower half is looked at: enough for int.)
struct FilteredCalls {
  std::uint32_t number;
  std::uint32_t argument, value;
};

// From here on these calls are not executed and give `error`; 0 pretends that they succeeded. The filter
// stands before the kernel's own tracing, which sees no such call begin.
inline bool take_away(const FilteredCalls& calls, std::uint32_t error) {
  static_assert(std::endian::native == std::endian::little);
  constexpr std::uint16_t kLoad = BPF_LD | BPF_W | BPF_ABS, kIfEqual = BPF_JMP | BPF_JEQ | BPF_K,
                          kAnswer = BPF_RET | BPF_K;
  const auto argument =
      static_cast<std::uint32_t>(offsetof(seccomp_data, args) + calls.argument * sizeof(std::uint64_t));
  std::array program{
      sock_filter BPF_STMT(kLoad, offsetof(seccomp_data, nr)),
      sock_filter BPF_JUMP(kIfEqual, calls.number, 0, 3),
      sock_filter BPF_STMT(kLoad, argument),
      sock_filter BPF_JUMP(kIfEqual, calls.value, 0, 1),
      sock_filter BPF_STMT(kAnswer, SECCOMP_RET_ERRNO | (error & SECCOMP_RET_DATA)),
      sock_filter BPF_STMT(kAnswer, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{.len = program.size(), .filter = program.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) == 0;
}

}
