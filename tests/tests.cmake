# One executable per level (see tests/README.md). CTest runs each test case as a process of its own, and
# exit code 77 means skipped, with the reason on the line before.
find_package(Catch2 2 REQUIRED)
enable_testing()
include(Catch)

# Catch2's main is slow to compile: once for all.
add_library(catch_main OBJECT tests/main.cpp)
target_link_libraries(catch_main PRIVATE Catch2::Catch2)

function(test_level name folders)
  file(GLOB sources CONFIGURE_DEPENDS ${folders})
  add_executable(${name} $<TARGET_OBJECTS:catch_main> ${sources})
  visible(${name} analysis bpf userspace tests)
  target_compile_definitions(${name} PRIVATE IOTRACE_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE ${ARGN} Catch2::Catch2 warnings)
  target_precompile_headers(${name} PRIVATE <catch2/catch.hpp> <fmt/format.h>)
  catch_discover_tests(${name} TEST_PREFIX "${name}: " PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 300
                       DISCOVERY_MODE PRE_TEST)
endfunction()

test_level(unit_tests "tests/unit/*.cpp" analysis)
test_level(golden_tests "tests/golden/*.cpp" analysis)
if(NOT IOTRACE_SANITIZE)
  test_level(contract_tests "tests/contract/*.cpp" userspace)
  test_level(in_place_tests "tests/in-place/*.cpp" userspace)
  test_level(cli_tests "tests/cli/*.cpp" analysis)
  target_link_options(in_place_tests PRIVATE -static)
endif()
