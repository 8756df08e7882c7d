// The sqlite3 shell, which reads by pread unless PRAGMA mmap_size is set.

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "tests/cli/program.h"
#include "tests/programs/reader.h"

using namespace iotrace::test;

namespace {

constexpr const char* kShell = "/usr/bin/sqlite3";
constexpr int kRows = 20011, kLookups = 499;  // 39 MiB
constexpr int kValueBytes = 1900;             // two to a page

WatchedReading watch_lookups(const std::string& mmap_size) {
  TempFolder folder;
  for (const char* name : {"watched.db", "other.db"}) {
    run_to_end({kShell, folder.path() / name,
                fmt::format("create table documents(id integer primary key, body blob);"
                            "with recursive n(i) as (select 0 union all select i + 1 from n where i < {})"
                            "insert into documents select i, randomblob({}) from n;",
                            kRows - 1, kValueBytes)});
    make_cold(folder.path() / name);
  }
  auto shell = [&](const char* name) {
    return std::vector<std::string>{kShell, "-batch", folder.path() / name};
  };
  Reader watched(shell("watched.db")), other(shell("other.db"));
  for (Reader* reader : {&watched, &other}) {
    reader->say("select 'ready';");
    REQUIRE(reader->answer() == "ready");
    // Says what it has set, and looks into the file for that.
    reader->say(fmt::format("pragma mmap_size = {};", mmap_size));
    REQUIRE(reader->answer() == mmap_size);
  }
  const WatchedReading reading =
      watch_reading(watched, other,
                    fmt::format("with recursive n(i) as (select 1 union all select i + 1 from n where i < {})"
                                "select sum(length(body)) from n join documents on id = i * 7919 % {};",
                                kLookups, kRows));
  CHECK(reading.said == std::to_string(kLookups * kValueBytes));
  CHECK(file_called(reading.record, "other.db").is_null());
  return reading;
}

}

TEST_CASE("sqlite3 with mmap_size faults on its database") {
  need(kShell, "sqlite3");
  const WatchedReading reading = watch_lookups("1073741824");
  const nlohmann::json file = file_called(reading.record, "watched.db");
  INFO(file.dump(1) << reading.record["totals"]["faults"].dump(1));
  REQUIRE_FALSE(file.is_null());
  CHECK(reading.major >= 1);
  CHECK(file["faults"]["major"] == reading.major);
  CHECK(reading.record["totals"]["faults"]["major"] == reading.major);
  CHECK(major_faults_of_files(reading.record) == reading.major);
  CHECK(file["advice"][0]["advice"] == "NORMAL");
  CHECK(file["mapped_bytes"] >= kRows * kValueBytes);
  CHECK(file["page_cache"]["by"]["readahead"] > kLookups);
  CHECK(file["reads"]["calls"] < 10);  // the header at most
}

TEST_CASE("sqlite3 without mmap_size reads its database by calls and faults on nothing") {
  need(kShell, "sqlite3");
  const WatchedReading reading = watch_lookups("0");
  const nlohmann::json file = file_called(reading.record, "watched.db");
  INFO(file.dump(1) << reading.record["totals"]["faults"].dump(1));
  REQUIRE_FALSE(file.is_null());
  CHECK(reading.major == 0);
  CHECK(file["faults"]["major"] == 0);
  CHECK(file["faults"]["minor"] == 0);
  CHECK(file["mapped_bytes"] == 0);
  CHECK(file["advice"].empty());
  CHECK(file["reads"]["calls"] >= kLookups);
  CHECK(file["page_cache"]["by"]["fault"] == 0);
  CHECK(file["page_cache"]["added_pages"] >= kLookups);
}
