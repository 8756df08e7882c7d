// Lucene's MMapDirectory in a JVM.

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "tests/cli/program.h"
#include "tests/programs/reader.h"

using namespace iotrace::test;

namespace {

constexpr const char* kJava = "/usr/bin/java";
constexpr int kDocuments = 10007, kSearches = 499;  // 40 MiB
constexpr int kBodyBytes = 4000;

// Debian's jar bears its version; "" where there is none.
std::string core_jar() {
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator("/usr/share/java", none))
    if (entry.path().filename().string().starts_with("lucene-core-8")) return entry.path();
  return {};
}

// Compiled as it is started.
std::vector<std::string> stored_fields(const char* what, const std::string& folder, int count) {
  return {kJava,
          "-XX:TieredStopAtLevel=1",
          "-XX:+UseSerialGC",
          "-cp",
          core_jar(),
          IOTRACE_SOURCE_DIR "/tests/programs/targets/StoredFields.java",
          what,
          folder,
          std::to_string(count)};
}

}

TEST_CASE("Lucene's stored fields are named, and their faults are the JVM's") {
  need(core_jar(), "liblucene8-java");
  need("/usr/bin/javac", "openjdk-17-jdk-headless");
  TempFolder folder;
  const std::string made = folder.path() / "watched", copied = folder.path() / "other";
  run_to_end(stored_fields("make", made, kDocuments));
  std::filesystem::copy(made, copied);
  Reader watched(stored_fields("read", made, kSearches)), other(stored_fields("read", copied, kSearches));
  REQUIRE(watched.answer() == "ready");
  REQUIRE(other.answer() == "ready");
  // Opening an index looks at both ends of its files.
  for (const std::string& index : {made, copied})
    for (const char* name : {"/_0.fdt", "/_1.fdt"}) make_cold(index + name, 0.5);

  const WatchedReading reading = watch_reading(watched, other, "go");
  CHECK(reading.said == fmt::format("done {}", kSearches * kBodyBytes));
  INFO(reading.record["totals"]["faults"].dump(1) << reading.report);
  CHECK(reading.major >= 2);
  CHECK(reading.record["totals"]["faults"]["major"] == reading.major);
  CHECK(major_faults_of_files(reading.record) == reading.major);
  for (const char* name : {"watched/_0.fdt", "watched/_1.fdt"}) {
    const nlohmann::json file = file_called(reading.record, name);
    INFO(file.dump(1));
    REQUIRE_FALSE(file.is_null());
    CHECK(file["extension"] == ".fdt");
    CHECK(file["advice"][0]["advice"] == "NORMAL");
    CHECK(file["faults"]["major"] >= 1);
    CHECK(file["page_cache"]["by"]["readahead"] > kSearches);
  }
  for (const auto& one : reading.record["files"])
    CHECK(std::string(one["path"]).find(copied) == std::string::npos);
  CHECK(reading.report.find(".fdt, 2 files") != std::string::npos);
  CHECK(reading.report.find("_0.fdt") != std::string::npos);
}
