// LMDB, with its map as it comes and under MDB_NORDAHEAD.

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "tests/cli/program.h"
#include "tests/programs/reader.h"

using namespace iotrace::test;

namespace {

constexpr int kRecords = 32771, kLookups = 499;  // 64 MiB
constexpr const char* kReader = LMDB_READER;     // "" where LMDB is not installed

struct Databases {
  Databases() {
    for (const char* name : {"watched", "other"}) {
      std::filesystem::create_directory(folder.path() / name);
      run_to_end({kReader, "make", at(name), std::to_string(kRecords)});
      make_cold(at(name) + "/data.mdb");
    }
  }
  std::string at(const char* name) const { return folder.path() / name; }
  std::vector<std::string> read(const char* name, std::vector<std::string> more = {}) const {
    std::vector<std::string> command{kReader, "read", at(name), std::to_string(kLookups)};
    command.insert(command.end(), more.begin(), more.end());
    return command;
  }

  TempFolder folder;
};

WatchedReading watch_lookups(const Databases& databases, const std::vector<std::string>& options) {
  Reader watched(databases.read("watched", options)), other(databases.read("other", options));
  REQUIRE(watched.answer() == "ready");
  REQUIRE(other.answer() == "ready");
  return watch_reading(watched, other, "go");
}

// What holds with and without readahead. Returns the database's entry.
nlohmann::json check_database(const WatchedReading& reading, const std::string& advice) {
  const nlohmann::json file = file_called(reading.record, "watched/data.mdb");
  INFO(reading.said << "\n" << file.dump(1) << reading.record["totals"]["faults"].dump(1));
  REQUIRE_FALSE(file.is_null());
  CHECK(file_called(reading.record, "other/data.mdb").is_null());
  CHECK(reading.said.starts_with(fmt::format("done {} sum ", reading.major)));  // by getrusage
  CHECK(file["faults"]["major"] == reading.major);
  CHECK(reading.record["totals"]["faults"]["major"] == reading.major);
  CHECK(major_faults_of_files(reading.record) == reading.major);
  CHECK(file["extension"] == ".mdb");
  REQUIRE(file["advice"].size() == 1);
  CHECK(file["advice"][0]["advice"] == advice);
  CHECK(file["block_io"]["read_bytes"] > 0);
  CHECK(file["block_io"]["read_bytes"] <= 4096 * std::uint64_t(file["page_cache"]["added_pages"]));
  CHECK(reading.report.find("watched/data.mdb") != std::string::npos);
  CHECK(reading.report.find(advice) != std::string::npos);
  return file;
}

}

TEST_CASE("LMDB with MDB_NORDAHEAD brings in the pages that it looks at, and no others") {
  need(kReader, "liblmdb-dev");
  Databases databases;
  const WatchedReading reading = watch_lookups(databases, {"norahead"});
  const nlohmann::json file = check_database(reading, "RANDOM");
  // A leaf page for each record but those that share one, and some pages above them.
  CHECK(reading.major > kLookups * 9 / 10);
  CHECK(file["faults"]["read"]["count"] == reading.major);
  CHECK(file["page_cache"]["added_pages"] == reading.major);
  CHECK(file["page_cache"]["by"]["fault"] == reading.major);
  CHECK(file["page_cache"]["by"]["readahead"] == 0);
  CHECK(file["wasted_least_pages"] == 0);
  CHECK(file["wasted_most_pages"] == 0);
}

TEST_CASE("LMDB without MDB_NORDAHEAD reads ahead for nothing") {
  need(kReader, "liblmdb-dev");
  Databases databases;
  const WatchedReading reading = watch_lookups(databases, {});
  const nlohmann::json file = check_database(reading, "NORMAL");
  CHECK(reading.major >= 1);
  CHECK(file["page_cache"]["by"]["readahead"] > kLookups);
  CHECK(file["page_cache"]["added_pages"] > 2 * kLookups);
  // At most a leaf for each record and what lies above it was looked at.
  const std::uint64_t added = file["page_cache"]["added_pages"];
  CHECK(file["wasted_most_pages"] >= added - 2 * kLookups);
}
