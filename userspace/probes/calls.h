#pragma once
// The followed system calls and the kinds of advice: numbers to names. The one place where a call is added
// (beside enum followed_call in bpf/contract.h, which numbers them for the BPF side).

#include <span>
#include <string>
#include <string_view>

#include "bpf/contract.h"

namespace iotrace {

struct FollowedCall {
  followed_call call;
  long number;  // on this machine: SYS_madvise
  std::string_view name;
};

std::span<const FollowedCall> followed_calls();

// "WILLNEED" for 3; "advice 77" for an unknown one.
std::string advice_name(unsigned advice);

}
