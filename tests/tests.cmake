# One executable per level (see tests/README.md). CTest runs each test case as a process of its own, and
# exit code 77 means skipped, with the reason on the line before.
find_package(Catch2 2 REQUIRED)
enable_testing()
include(Catch)

# Tests are compiled without optimisation, and Catch2 is parsed once for all of them.
file(WRITE ${CMAKE_BINARY_DIR}/parsed_once.cpp "")
add_library(parsed_once OBJECT ${CMAKE_BINARY_DIR}/parsed_once.cpp)
add_library(test_settings INTERFACE)
target_compile_definitions(test_settings INTERFACE IOTRACE_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
target_compile_options(test_settings INTERFACE -O0)
target_link_libraries(test_settings INTERFACE Catch2::Catch2WithMain fmt_library nlohmann_json::nlohmann_json)
target_link_libraries(parsed_once PRIVATE test_settings)
target_precompile_headers(parsed_once PRIVATE <catch2/catch.hpp> <fmt/format.h>)

function(test_level name folders)
  file(GLOB sources CONFIGURE_DEPENDS ${folders})
  add_executable(${name} ${sources})
  visible(${name} analysis bpf userspace tests)
  target_link_libraries(${name} PRIVATE ${ARGN} test_settings)
  target_compile_options(${name} PRIVATE -Wall -Wextra -Werror -Wno-missing-field-initializers)
  target_precompile_headers(${name} REUSE_FROM parsed_once)
  catch_discover_tests(${name} TEST_PREFIX "${name}: " PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 300
                       DISCOVERY_MODE PRE_TEST)
endfunction()

test_level(unit_tests "tests/unit/*.cpp" analysis)
test_level(golden_tests "tests/golden/*.cpp" analysis)
if(NOT IOTRACE_SANITIZE)
  test_level(contract_tests "tests/contract/*.cpp" userspace)
  test_level(in_place_tests "tests/in-place/*.cpp" userspace)
  test_level(cli_tests "tests/cli/*.cpp" analysis)
  add_dependencies(cli_tests iotrace)
  target_link_options(in_place_tests PRIVATE -static)

  # Real programs, watched. Those that are not installed are skipped.
  test_level(program_tests "tests/programs/*.cpp;tests/cli/program.cpp" userspace)
  find_path(LMDB_HEADERS lmdb.h)
  find_library(LMDB_LIBRARY lmdb)
  if(LMDB_HEADERS AND LMDB_LIBRARY)
    add_executable(lmdb_reader tests/programs/targets/lmdb_reader.cpp)
    target_link_libraries(lmdb_reader PRIVATE ${LMDB_LIBRARY} warnings)
    add_dependencies(program_tests lmdb_reader)
    target_compile_definitions(program_tests PRIVATE LMDB_READER="$<TARGET_FILE:lmdb_reader>")
  else()
    target_compile_definitions(program_tests PRIVATE LMDB_READER="")
  endif()

  add_test(NAME "fleet_tests: node_exporter and Prometheus read a watch's metrics"
           COMMAND ${CMAKE_SOURCE_DIR}/tests/fleet/scrape.py ${CMAKE_SOURCE_DIR}/iotrace
                   ${CMAKE_SOURCE_DIR}/tests/golden/records/attach_metrics.json
                   ${CMAKE_SOURCE_DIR}/userspace/attach/fleet/grafana-dashboard.json)
  add_test(NAME "fleet_tests: systemd and promtool accept what the fleet folder holds"
           COMMAND ${CMAKE_SOURCE_DIR}/tests/fleet/verify ${CMAKE_SOURCE_DIR}/userspace/attach/fleet)
  set_tests_properties("fleet_tests: node_exporter and Prometheus read a watch's metrics"
                       "fleet_tests: systemd and promtool accept what the fleet folder holds"
                       PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 60)
  foreach(test run_page attach_page compare_page looks hostile)
    add_test(NAME "browser_tests: ${test}"
             COMMAND ${CMAKE_SOURCE_DIR}/tests/browser/run ${test}.mjs ${CMAKE_SOURCE_DIR}/iotrace)
    set_tests_properties("browser_tests: ${test}" PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 120)
  endforeach()
endif()

# Man page, completion, `make install` and `make deb`.
if(NOT IOTRACE_SANITIZE)
  foreach(test man_page completion readme install deb)
    add_test(NAME "packaging_tests: ${test}"
             COMMAND ${CMAKE_SOURCE_DIR}/tests/packaging/${test}_test.py ${CMAKE_SOURCE_DIR}/iotrace ${CMAKE_BINARY_DIR})
    set_tests_properties("packaging_tests: ${test}" PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 60)
  endforeach()
  add_test(NAME "kernels: turns, records and what compares them" COMMAND ${CMAKE_SOURCE_DIR}/tests/kernels/pure_test.py)
endif()

# The pure parts of `make overhead`.
find_program(PYTHON3 python3)
if(PYTHON3)
  add_test(NAME "overhead: intervals, goals, peers and tables"
           COMMAND ${PYTHON3} -B ${CMAKE_SOURCE_DIR}/tests/overhead/pure_test.py)
  foreach(of attach run)
    add_test(NAME "golden: the trace of ${of} nests, and all of its tracks have names"
             COMMAND ${PYTHON3} -B ${CMAKE_SOURCE_DIR}/tests/golden/trace_check.py
                     ${CMAKE_SOURCE_DIR}/tests/golden/expected/trace_${of}.json)
  endforeach()
endif()

# Built by `make overhead` alone.
if(NOT IOTRACE_SANITIZE)
  bpf_skeleton(empty tests/overhead/empty.bpf.c)
  add_executable(bpf_time EXCLUDE_FROM_ALL tests/overhead/bpf_time.cpp)
  add_dependencies(bpf_time empty_skeleton)
  target_include_directories(bpf_time PRIVATE ${CMAKE_BINARY_DIR}/skeleton)
  target_link_libraries(bpf_time PRIVATE bpf nlohmann_json::nlohmann_json warnings)

  add_executable(fault_storm EXCLUDE_FROM_ALL tests/overhead/fault_storm.cpp)
  visible(fault_storm analysis bpf userspace tests)
  target_link_libraries(fault_storm PRIVATE userspace nlohmann_json::nlohmann_json warnings)
endif()
