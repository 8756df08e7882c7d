// Published results as they come with the program, and own rows set beside them.

#include <algorithm>

#include <catch2/catch.hpp>

#include "analysis/reference.h"
#include "analysis/summary.h"

using namespace iotrace;

namespace {

Row row_of(const std::string& strategy, std::uint32_t threads, double ops_per_ms) {
  Row row;
  row.strategy = strategy;
  row.case_name = "cold";
  row.pattern = "random";
  row.threads = threads;
  row.read_size_bytes = 16384;
  row.reads_per_op = 16;
  row.untraced.emplace();
  for (int rep = 0; rep < 6; ++rep)
    row.untraced->reps.push_back({.ops = static_cast<Count>(ops_per_ms * 1000), .seconds = 1.0});
  return row;
}

}

TEST_CASE("every publication names its source, and each of its platforms has rows") {
  CHECK(publication_names() ==
        std::vector<std::string>{"lkml-2002", "lucene-16044", "lucene-16145", "lucene-16279"});
  for (const std::string& name : publication_names()) {
    CAPTURE(name);
    auto found = publication(name);
    REQUIRE(found);
    CHECK(found->name == name);
    CHECK_FALSE(found->source.empty());
    CHECK_FALSE(found->rows.empty());
    CHECK(std::ranges::all_of(found->rows, [](const PublishedRow& row) { return row.speed > 0; }));
  }
  // Lucene PR 16279, c6id, cold, 16 threads: mmap 0.939 ops/ms in the table of issue 16044.
  auto c6id = publication("lucene-16044:C6ID");
  REQUIRE(c6id);
  CHECK(c6id->platform == "Linux c6id.4xlarge");
  auto mmap = std::ranges::find_if(c6id->rows, [](const PublishedRow& row) {
    return row.strategy == "mmap" && row.case_name == "cold" && row.threads == 16;
  });
  REQUIRE(mmap != c6id->rows.end());
  CHECK(mmap->speed == 0.939);
}

TEST_CASE("a publication or platform that does not exist is refused with those that do") {
  auto message = [](std::string_view word) {
    auto found = publication(word);
    REQUIRE_FALSE(found);
    CHECK(found.error().kind == ErrorKind::kUsage);
    return found.error().message;
  };
  CHECK_THAT(message("lucene-1"), Catch::Contains("lucene-16279"));
  CHECK_THAT(message("lucene-16279:vax"), Catch::Contains("'vax'") && Catch::Contains("Linux c6id.4xlarge"));
  CHECK_THAT(message("lucene-16279:linux"), Catch::Contains("not one alone"));
}

TEST_CASE("rows are set beside published ones as ratios to the same table's baseline") {
  Publication table{.rows = {{.case_name = "cold",
                              .pattern = "random",
                              .strategy = "pread",
                              .threads = 4,
                              .read_size_bytes = 16384,
                              .reads_per_op = 16,
                              .speed = 2},
                             {.case_name = "cold",
                              .pattern = "random",
                              .strategy = "mmap",
                              .published_as = "mmap (NORMAL)",
                              .threads = 4,
                              .read_size_bytes = 16384,
                              .reads_per_op = 16,
                              .speed = 0.5},
                             {.case_name = "cold",
                              .pattern = "random",
                              .strategy = "mmap",
                              .threads = 1,
                              .read_size_bytes = 16384,
                              .reads_per_op = 16,
                              .speed = 0.5}}};
  RunRecord record;
  record.rows = {row_of("mmap", 4, 3), row_of("pread", 4, 6), row_of("mmap", 1, 3), row_of("direct", 4, 3)};
  summarise(record);
  auto pairs = beside(record, table);
  REQUIRE(pairs.size() == 1);  // no baseline at one thread, direct not published, pread is the baseline
  CHECK(pairs[0].row == 0);
  CHECK(pairs[0].baseline == "pread");
  CHECK(pairs[0].ours.median == Approx(0.5));
  CHECK(pairs[0].published == Approx(0.25));
  CHECK(pairs[0].published_as == "mmap (NORMAL)");

  record.rows[0].error = "EIO";
  CHECK(beside(record, table).empty());
}
