#pragma once
// Result<T>: a value, or the reason why there is none. The interface is a subset of std::expected, which
// the C++20 library lacks.

#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace iotrace {

// What kind of failure it is decides the exit code of the program.
enum class ErrorKind {
  kFailed,       // exit 1: it was tried and did not work
  kUsage,        // exit 2: the request itself is wrong
  kUnsupported,  // exit 3: this machine or this user cannot (privilege, feature)
};

// One line: what was attempted, why it failed, what to do about it.
struct Error {
  std::string message;
  ErrorKind kind = ErrorKind::kFailed;
};

inline Error usage_error(std::string message) {
  return {std::move(message), ErrorKind::kUsage};
}
inline Error unsupported(std::string message) {
  return {std::move(message), ErrorKind::kUnsupported};
}

// "open data.bin: ENOENT (No such file or directory)". `remedy`, if any, follows after "; ".
Error errno_error(std::string attempt, int error_number, std::string remedy = {});

// "EINVAL" for 22; "errno 4095" for a number without a name.
std::string errno_name(int error_number);

template<typename T> class [[nodiscard]] Result {
public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }
  T& value() { return std::get<0>(state_); }
  const T& value() const { return std::get<0>(state_); }
  T& operator*() { return value(); }
  const T& operator*() const { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  const Error& error() const { return std::get<1>(state_); }

private:
  std::variant<T, Error> state_;
};

// Success carries no allocation and no string: cheap enough for the read path.
template<> class [[nodiscard]] Result<void> {
public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}

  bool has_value() const { return !error_.has_value(); }
  explicit operator bool() const { return has_value(); }
  const Error& error() const { return *error_; }

private:
  std::optional<Error> error_;
};

using Status = Result<void>;

}
