// The options that shape patterns: defaults, lists, and what is refused.

#include <catch2/catch.hpp>

#include "userspace/cli/pattern_settings.h"
#include "userspace/strategies/strategy.h"

namespace iotrace {
namespace {

// The words of one run, all others left out.
Result<RunSettings> settings(std::string patterns, RunWords words = {}) {
  words.patterns = std::move(patterns);
  words.probes = "off";
  return run_settings(words);
}

std::string refusal(std::string patterns, RunWords words) {
  auto refused = settings(std::move(patterns), std::move(words));
  if (refused) return "";
  CHECK(refused.error().kind == ErrorKind::kUsage);
  return refused.error().message;
}

TEST_CASE("pattern options: defaults belong to the patterns chosen") {
  auto random = settings("random");
  REQUIRE(random);
  CHECK_FALSE(random->options.hot_size_bytes);
  CHECK(random->options.cold_pct.empty());
  CHECK(random->options.zipf_theta.empty());
  CHECK(random->options.stride_bytes.empty());

  auto all = settings("zipf,strided,hot-cold");
  REQUIRE(all);
  CHECK(all->options.hot_size_bytes == 16u << 20);
  CHECK(all->options.cold_pct == std::vector{10.0});
  CHECK(all->options.zipf_theta == std::vector{0.99});
  CHECK(all->options.stride_bytes == std::vector<std::uint64_t>{1u << 20});
}

TEST_CASE("pattern options: lists are taken in their order") {
  auto chosen =
      settings("hot-cold,zipf,strided",
               {.hot_size = "1M", .cold_pct = "10,50,90", .zipf_theta = "0.5,0.9", .stride = "64K,1M"});
  REQUIRE(chosen);
  CHECK(chosen->options.hot_size_bytes == 1u << 20);
  CHECK(chosen->options.cold_pct == std::vector{10.0, 50.0, 90.0});
  CHECK(chosen->options.zipf_theta == std::vector{0.5, 0.9});
  CHECK(chosen->options.stride_bytes == std::vector<std::uint64_t>{64u << 10, 1u << 20});
}

TEST_CASE("pattern options: bad words and options without their pattern are refused") {
  using Catch::Contains;
  CHECK_THAT(refusal("random", {.hot_size = "1M"}),
             Contains("--hot-size '1M'") && Contains("add --pattern hot-cold"));
  CHECK_THAT(refusal("zipf", {.cold_pct = "10"}), Contains("--cold-pct '10'") && Contains("hot-cold"));
  CHECK_THAT(refusal("hot-cold", {.zipf_theta = "0.5"}), Contains("--zipf-theta '0.5'") && Contains("zipf"));
  CHECK_THAT(refusal("random", {.stride = "1M"}), Contains("--stride '1M'") && Contains("strided"));
  CHECK_THAT(refusal("hot-cold", {.hot_size = "0"}), Contains("--hot-size '0': needs a size"));
  for (const char* word : {"101", "-1", "ten", "10%", "nan"}) {
    CAPTURE(word);
    CHECK_THAT(refusal("hot-cold", {.cold_pct = word}), Contains("needs a percentage from 0 to 100"));
  }
  CHECK_THAT(refusal("hot-cold", {.cold_pct = "10,10.0"}), Contains("names 10.0 twice"));
  for (const char* word : {"0", "1", "1.2", "-0.5", "x", "nan"}) {
    CAPTURE(word);
    CHECK_THAT(refusal("zipf", {.zipf_theta = word}), Contains("needs a number above 0"));
  }
  CHECK_THAT(refusal("strided", {.stride = "1M,0"}), Contains("--stride '0': needs a size"));
  CHECK_THAT(refusal("strided", {.stride = "1M,1024K"}), Contains("names 1024K twice"));
}

TEST_CASE("pattern options: the hot part leaves room on both sides") {
  auto at = [](const char* hot, const char* align, std::uint64_t file_bytes) {
    auto chosen = settings("hot-cold", {.read_size = "4K,16K", .align = align, .hot_size = hot});
    REQUIRE(chosen);
    Status checked = check_patterns(*chosen, file_bytes);
    return checked ? "" : checked.error().message;
  };
  CHECK(at("1M", "1", (1u << 20) + (16u << 10)) == "");
  CHECK_THAT(at("1M", "1", (1u << 20) + (16u << 10) - 1), Catch::Contains("leaves no room for a cold read"));
  CHECK_THAT(at("1M", "1", 1u << 20), Catch::Contains("--hot-size 1048576"));
  CHECK_THAT(at("1M", "3M", 3u << 20), Catch::Contains("leaves no room for a cold read"));
  CHECK_THAT(at("8K", "1", 1u << 20), Catch::Contains("is shorter than one read of 16384"));
  auto random = settings("random");
  REQUIRE(random);
  CHECK(check_patterns(*random, 1));
}

TEST_CASE("pattern options: 128 reads per op where all is sequential, unless said otherwise") {
  CHECK(settings("sequential")->options.reads_per_op == 128);
  CHECK(settings("sequential", {.reads_per_op = "4"})->options.reads_per_op == 4);
  CHECK(settings("sequential,random")->options.reads_per_op == 16);
  CHECK(settings("random")->options.reads_per_op == 16);
}

TEST_CASE("pattern options: 'all' has those that read in order only where all is sequential, no specimen") {
  for (const char* patterns : {"random", "sequential", "sequential,random"}) {
    CAPTURE(patterns);
    const bool in_order = patterns == std::string_view("sequential");
    std::vector<std::string> expected;
    for (const Strategy& strategy : strategies())
      if (!strategy.specimen && (in_order || !strategy.sequential_only)) expected.emplace_back(strategy.name);
    auto chosen = settings(patterns, {.strategies = "all"});
    REQUIRE(chosen);
    CHECK(chosen->options.strategies == expected);
  }
}

}
}
