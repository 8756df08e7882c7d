#include "analysis/result.h"

#include <cerrno>
#include <memory>
#include <vector>

#include <catch2/catch.hpp>

using namespace iotrace;

TEST_CASE("a result holds its value", "[result]") {
  Result<int> result = 7;
  REQUIRE(result);
  CHECK(result.has_value());
  CHECK(*result == 7);
  *result += 1;
  CHECK(result.value() == 8);
}

TEST_CASE("a result holds the reason why there is no value", "[result]") {
  Result<std::vector<int>> result = Error{"open x: ENOENT"};
  REQUIRE_FALSE(result);
  CHECK(result.error().message == "open x: ENOENT");
  CHECK(result.error().kind == ErrorKind::kFailed);
}

TEST_CASE("a value that can only be moved passes through a result", "[result]") {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(3);
  REQUIRE(result);
  std::unique_ptr<int> taken = std::move(*result);
  CHECK(*taken == 3);
}

TEST_CASE("a status is success unless it is given an error", "[result]") {
  CHECK(Status());
  Status failed = usage_error("no such case");
  REQUIRE_FALSE(failed);
  CHECK(failed.error().message == "no such case");
  CHECK(failed.error().kind == ErrorKind::kUsage);
}

TEST_CASE("the kinds of error are those of the exit codes", "[result]") {
  CHECK(usage_error("").kind == ErrorKind::kUsage);
  CHECK(unsupported("").kind == ErrorKind::kUnsupported);
}

TEST_CASE("an errno is named, and a number without a name is shown", "[result]") {
  CHECK(errno_name(EINVAL) == "EINVAL");
  CHECK(errno_name(EPERM) == "EPERM");
  CHECK(errno_name(4095) == "errno 4095");
}

TEST_CASE("an errno error names the attempt, the errno and the remedy", "[result]") {
  CHECK(errno_error("open data.bin", ENOENT).message == "open data.bin: ENOENT (No such file or directory)");
  CHECK(errno_error("attach faults", EPERM, "run with sudo").message ==
        "attach faults: EPERM (Operation not permitted); run with sudo");
  CHECK(errno_error("ask", 4095).message == "ask: errno 4095 (unknown error)");
}

TEST_CASE("only EPERM means that this user cannot", "[result]") {
  CHECK(errno_error("attach", EPERM).kind == ErrorKind::kUnsupported);
  CHECK(errno_error("open", EACCES).kind == ErrorKind::kFailed);
  CHECK(errno_error("open", ENOENT).kind == ErrorKind::kFailed);
}
