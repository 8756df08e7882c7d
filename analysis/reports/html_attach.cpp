// Sections of an attach record: its timeline, its files, its threads.

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

#include "analysis/attach_facts.h"
#include "analysis/format.h"
#include "analysis/reports/html_parts.h"
#include "analysis/text.h"

namespace iotrace::page {

namespace {

constexpr std::size_t kPathWidth = 48;
// More distributions over each other can't be told apart.
constexpr std::size_t kDistributions = 6;

std::string seconds_text(double seconds) {
  return human_ns(1e9 * seconds);
}

// Files that something happened on, the first `top` and those that findings name.
std::vector<std::uint32_t> shown_files(const RunRecord& record, std::size_t top) {
  std::set<std::uint32_t> named;
  for (const Finding& finding : record.findings) named.insert(finding.rows.begin(), finding.rows.end());
  std::vector<std::uint32_t> shown;
  for (std::uint32_t i = 0; i < record.files.size(); ++i)
    if (is_active(record.files[i]) || named.contains(i)) shown.push_back(i);
  std::ranges::stable_sort(shown, std::greater(), [&](auto i) { return waited_seconds(record.files[i]); });
  std::size_t place = 0;
  std::erase_if(shown, [&](std::uint32_t i) { return place++ >= top && !named.contains(i); });
  return shown;
}

std::string path_of(const AttachedFile& file) {
  return printable(file.path) + (file.deleted ? " (deleted)" : "");
}

// Ends alone may be shared: then the whole path tells files apart.
std::vector<std::string> plot_names(const RunRecord& record, const std::vector<std::uint32_t>& shown) {
  std::vector<std::string> names;
  for (std::uint32_t i : shown) names.push_back(shortened_path(path_of(record.files[i]), kPathWidth));
  for (std::size_t a = 0; a < names.size(); ++a)
    for (std::size_t b = a + 1; b < names.size(); ++b)
      if (names[a] == names[b]) names[b] = fmt::format("{} [{}]", names[b], record.files[shown[b]].inode);
  return names;
}

std::optional<double> waited_in(const std::optional<FaultClass>& kind) {
  return kind ? std::optional(static_cast<double>(kind->lat_ns.sum()) / 1e9) : std::nullopt;
}

Json file_table(const RunRecord& record, const std::vector<std::uint32_t>& shown) {
  const std::string none(kNotAvailable);
  Json files = table("", 1,
                     {"file", "size", "resident", "advice", "waits", "p50", "p99", "waited", "pages added",
                      "evicted", "refaults", "read calls"});
  for (std::uint32_t i : shown) {
    const AttachedFile& file = record.files[i];
    const auto latency = waiting_latency(file.faults);
    const auto resident = resident_ratio(file);
    const auto waits = waiting_faults(file);
    const PageCache cache = file.page_cache.value_or(PageCache{});
    auto count = [&](const std::optional<Count>& n) { return n ? std::to_string(*n) : none; };
    auto quantile = [&](double q) { return latency ? wording::cell_ns(latency->percentile(q)) : none; };
    add_line(files,
             {path_of(file), file.size_bytes ? human_bytes(static_cast<double>(*file.size_bytes)) : none,
              resident ? percent(*resident) : none, std::string(prevailing_advice(file)), count(waits),
              quantile(0.5), quantile(0.99), seconds_text(waited_seconds(file)), count(cache.added_pages),
              count(cache.evicted_pages), count(cache.refault_pages),
              file.reads ? std::to_string(file.reads->calls) : none},
             file_id(i));
  }
  return files;
}

// Of pages that came in, those that nobody used: between two bounds, as use of some can't be seen.
Json waste_plot(const RunRecord& record, const std::vector<std::uint32_t>& shown,
                const std::vector<std::string>& names) {
  Bars waste("% of the pages that came in, never used: between", {{"never used", 1}});
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const AttachedFile& file = record.files[shown[i]];
    const Count added = file.page_cache ? file.page_cache->added_pages.value_or(0) : 0;
    if (added == 0 || !file.wasted_least_pages || !file.wasted_most_pages) continue;
    const double least = static_cast<double>(*file.wasted_least_pages) / static_cast<double>(added);
    const double most = static_cast<double>(*file.wasted_most_pages) / static_cast<double>(added);
    if (most > 1) continue;  // pages from before the watch among them
    waste.start_line(names[i]);
    waste.add({100 * least, 100 * most},
              fmt::format("between {} and {} of {} pages", percent(least), percent(most), added));
  }
  return waste.empty() ? Json(nullptr) : std::move(waste).plot();
}

Json bringers_plot(const RunRecord& record, const std::vector<std::uint32_t>& shown,
                   const std::vector<std::string>& names) {
  using By = std::optional<Count> PageCacheBy::*;
  constexpr std::array<By, 5> kBy{&PageCacheBy::fault, &PageCacheBy::readahead, &PageCacheBy::hint,
                                  &PageCacheBy::read, &PageCacheBy::other};
  Bars pages("pages", {{"fault", 1}, {"readahead", 5}, {"hint", 2}, {"read", 0}, {"other", 6}});
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const AttachedFile& file = record.files[shown[i]];
    if (!file.page_cache || file.page_cache->added_pages.value_or(0) == 0) continue;
    pages.start_line(names[i]);
    for (By by : kBy) {
      const std::optional<Count> count = file.page_cache->by.*by;
      pages.add(count ? Json(*count) : Json(nullptr),
                count ? fmt::format("{} pages", *count) : std::string(kNotAvailable));
    }
  }
  return pages.empty() ? Json(nullptr) : std::move(pages).plot();
}

}

std::vector<Json> file_blocks(const RunRecord& record, std::size_t top) {
  const std::vector<std::uint32_t> shown = shown_files(record, top);
  if (shown.empty()) return {};
  const std::vector<std::string> names = plot_names(record, shown);
  Bars waits("s, of all threads together",
             {{"faults that read", 1}, {"faults that waited", 5}, {"read calls", 0}});
  Distributions latencies;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const AttachedFile& file = record.files[shown[i]];
    if (waited_seconds(file) > 0) {
      waits.start_line(names[i]);
      const Faults faults = file.faults.value_or(Faults{});
      for (const auto& part :
           {waited_in(faults.read), waited_in(faults.waited),
            file.reads ? std::optional(static_cast<double>(file.reads->lat_ns.sum()) / 1e9) : std::nullopt})
        waits.add(part ? Json(*part) : Json(nullptr),
                  part ? seconds_text(*part) : std::string(kNotAvailable));
    }
    const auto latency = waiting_latency(file.faults);
    if (latency && i < kDistributions) latencies.add("faults", names[i], i, false, *latency);
    if (file.reads && i < kDistributions) latencies.add("read calls", names[i], i, false, file.reads->lat_ns);
  }
  std::vector<Json> blocks;
  blocks.push_back(block("Waits by file", "time in faults that the device had to answer, and in read calls",
                         waits.empty() ? Json(nullptr) : std::move(waits).plot(),
                         {file_table(record, shown)}));
  if (!latencies.empty())
    blocks.push_back(
        block("How long each wait took",
              fmt::format("of the {} that waited most; share of samples in each step, four steps "
                          "an octave",
                          counted(std::min(shown.size(), kDistributions), "file")),
              std::move(latencies).plot(), {}));
  if (Json plot = bringers_plot(record, shown, names); !plot.is_null())
    blocks.push_back(block("Who brought pages into the cache", "", std::move(plot), {}));
  if (Json plot = waste_plot(record, shown, names); !plot.is_null())
    blocks.push_back(
        block("Pages that nobody used",
              "an interval: the kernel does not see a use of pages that it mapped beside a fault",
              std::move(plot), {}));
  return blocks;
}

std::vector<Json> thread_blocks(const RunRecord& record, std::size_t top) {
  using Wait = std::optional<double> AttachedThread::*;
  constexpr std::array<Wait, 4> kWaits{&AttachedThread::fault_wait_s, &AttachedThread::read_wait_s,
                                       &AttachedThread::mmap_lock_wait_s, &AttachedThread::futex_wait_s};
  Bars bars("% of the thread's time", {{"faults", 1}, {"reads", 0}, {"mmap_lock", 7}, {"futex", 6}});
  std::size_t shown = 0;
  for (const AttachedThread& thread : record.threads) {
    if (!waited(thread) || thread.seconds <= 0 || shown++ >= top) continue;
    bars.start_line(fmt::format("{} ({})", printable(thread.name), thread.tid));
    for (Wait wait : kWaits) {
      const auto seconds = thread.*wait;
      bars.add(seconds ? Json(100 * *seconds / thread.seconds) : Json(nullptr),
               seconds
                   ? fmt::format("{} of {}", percent(*seconds / thread.seconds), seconds_text(thread.seconds))
                   : std::string(kNotAvailable));
    }
  }
  wording::AttachTable words = wording::thread_table(record, top);
  if (bars.empty() && words.empty()) return {};
  return {block("What threads waited for",
                "the threads that waited most; futex: mostly for work, or for each other",
                bars.empty() ? Json(nullptr) : std::move(bars).plot(), {table_of(words)}, words.sentences)};
}

Json attach_sections(const RunRecord& record, const ReportOptions& options) {
  Json sections = Json::array();
  auto add = [&](const char* id, const char* title, std::vector<Json> blocks) {
    if (!blocks.empty())
      sections.push_back({{"id", id}, {"title", title}, {"note", ""}, {"blocks", std::move(blocks)}});
  };
  if (auto quiet = wording::quiet_words(record); !quiet.empty()) {
    add("quiet", "Nothing waited", {block("", "", nullptr, {}, {quiet})});
    return sections;
  }
  add("files", "Files", file_blocks(record, options.top));
  add("threads", "Threads", thread_blocks(record, options.top));
  add("timeline", "Timeline", timeline_blocks(record));

  std::vector<Json> more;
  std::vector<wording::AttachTable> tables = wording::file_tables(record, options.top);
  for (auto one :
       {wording::long_fault_table, wording::lock_table, wording::call_table, wording::advice_table})
    tables.push_back(one(record));
  for (const wording::AttachTable& content : tables)
    if (!content.empty())
      more.push_back(block(content.heading, "", nullptr, {table_of(content)}, content.sentences));
  if (auto words = wording::memory_words(record); !words.empty())
    more.push_back(block("Memory", "", nullptr, {}, std::move(words)));
  for (Json& of_more : more)
    for (Json& of_block : of_more["tables"]) of_block["heading"] = "";
  add("tables", "Tables", std::move(more));
  return sections;
}

}
