// The files of an attach record: which of them stand in the tables, and the numbers of each.

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "analysis/attach_facts.h"
#include "analysis/format.h"
#include "analysis/reports/wording_attach.h"
#include "analysis/text.h"

namespace iotrace::wording {

namespace {

constexpr std::size_t kNameWidth = 28;

// A line of the tables: a file, or all files of an extension together.
struct FileLine {
  std::string name;
  AttachedFile file;
};

struct FileChoice {
  std::vector<FileLine> lines;
  std::size_t left_out = 0;  // files on which something happened
  double left_out_share = 0;
  std::size_t idle = 0;
};

std::string name_of(const AttachedFile& file, std::size_t indent) {
  const std::string_view gone = file.deleted ? " (deleted)" : "";
  return std::string(indent, ' ') + shortened_path(printable(file.path), kNameWidth - indent - gone.size()) +
         std::string(gone);
}

// Those of an extension follow each other behind their sum, groups by what waited most; among files that
// nobody waited for, those that have a path come first.
FileChoice choose(const RunRecord& record, std::size_t top) {
  std::vector<const AttachedFile*> active;
  for (const AttachedFile& file : record.files)
    if (is_active(file)) active.push_back(&file);
  std::ranges::stable_partition(active, [](const AttachedFile* file) { return file->path.starts_with('/'); });
  std::ranges::stable_sort(active, std::greater(),
                           [](const AttachedFile* file) { return waited_seconds(*file); });
  FileChoice choice{.idle = record.files.size() - active.size()};
  const std::size_t shown = std::min(top, active.size());
  double waited_in_all = 0, waited_left_out = 0;
  for (std::size_t i = 0; i < active.size(); ++i) {
    waited_in_all += waited_seconds(*active[i]);
    if (i >= shown) waited_left_out += waited_seconds(*active[i]);
  }
  choice.left_out = active.size() - shown;
  choice.left_out_share = waited_in_all > 0 ? waited_left_out / waited_in_all : 0;

  std::vector<bool> done(shown);
  for (std::size_t first = 0; first < shown; ++first) {
    if (done[first]) continue;
    const std::string& extension = active[first]->extension;
    std::vector<const AttachedFile*> same;
    if (!extension.empty())
      for (const AttachedFile* file : active)
        if (file->extension == extension) same.push_back(file);
    const bool summed = same.size() > 1;
    if (summed)
      choice.lines.push_back(
          {fmt::format("{}, {}", clipped(printable(extension), kNameWidth / 2), counted(same.size(), "file")),
           sum_of(same)});
    for (std::size_t i = first; i < shown; ++i) {
      if (done[i] || (i != first && (extension.empty() || active[i]->extension != extension))) continue;
      done[i] = true;
      choice.lines.push_back({name_of(*active[i], summed ? 2 : 0), *active[i]});
    }
  }
  return choice;
}

std::vector<std::string> left_out_words(const RunRecord& record, const FileChoice& choice) {
  std::vector<std::string> sentences;
  if (choice.left_out > 0)
    sentences.push_back(fmt::format("and {}, {} of the waiting", counted(choice.left_out, "more file"),
                                    percent(choice.left_out_share)));
  if (choice.idle > 0)
    sentences.push_back(
        fmt::format("{} mapped or open on which nothing happened", counted(choice.idle, "other file")));
  if (record.target && record.target->files_left_out > 0)
    sentences.push_back(
        fmt::format("{} beyond the bound of the probes' table: in no table by file, but in what "
                    "is said of all together",
                    counted(record.target->files_left_out, "file")));
  return sentences;
}

std::string bytes(std::optional<std::uint64_t> number) {
  return number ? human_bytes(static_cast<double>(*number)) : std::string(kNotAvailable);
}

std::string pages(const std::optional<Count>& count) {
  return count ? cell_count(*count) : std::string(kNotAvailable);
}

// "NORMAL"; "RANDOM 75 %" where others hold the rest.
std::string advice_cell(const AttachedFile& file) {
  std::uint64_t all = 0;
  for (const AdviceInForce& advice : file.advice) all += advice.bytes;
  auto most = std::ranges::max_element(file.advice, {}, &AdviceInForce::bytes);
  if (all == 0) return {};
  const std::string name = printable(most->advice);
  return most->bytes == all
             ? name
             : fmt::format("{} {}", name,
                           percent(static_cast<double>(most->bytes) / static_cast<double>(all)));
}

// Mapped bytes stand there only where they say more than the size: a file is mapped whole as a rule, its last
// page too.
bool mapped_in_part(const FileLine& line) {
  constexpr std::uint64_t kLastPage = 64 << 10;  // the largest page of any machine
  const std::uint64_t mapped = line.file.mapped_bytes.value_or(0),
                      size = line.file.size_bytes.value_or(mapped);
  return mapped > 0 && std::max(mapped, size) - std::min(mapped, size) >= kLastPage;
}

AttachTable memory_table(const RunRecord& record, const FileChoice& choice) {
  const double seconds = record.target->seconds;
  const bool in_part = std::ranges::any_of(choice.lines, mapped_in_part);
  AttachTable table{
      .heading = "files: memory, and faults that waited for the device",
      .columns = {"file", "size", "resident", "mapped", "advice", "waits", "/s", "p50", "p99", "waited"}};
  for (const auto& [name, file] : choice.lines) {
    const auto faults = waiting_faults(file);
    const auto latency = waiting_latency(file.faults);
    const auto resident = resident_ratio(file);
    const bool some = faults.value_or(0) > 0;
    table.add(
        {name, bytes(file.size_bytes), resident ? percent(*resident) : std::string(kNotAvailable),
         in_part && file.mapped_bytes.value_or(0) > 0 ? bytes(file.mapped_bytes) : "", advice_cell(file),
         pages(faults), some && seconds > 0 ? three_digits(static_cast<double>(*faults) / seconds) : "",
         latency ? cell_ns(latency->percentile(0.5)) : "", latency ? cell_ns(latency->percentile(0.99)) : "",
         some && latency ? human_ns(static_cast<double>(latency->sum())) : ""});
  }
  table.sentences = left_out_words(record, choice);
  return table;
}

// "93 %", "93 % to 98 %"; blank: nothing came in.
std::string wasted_cell(const AttachedFile& file) {
  if (!file.page_cache || !file.page_cache->added_pages) return std::string(kNotAvailable);
  if (*file.page_cache->added_pages == 0) return {};
  if (!file.wasted_least_pages || !file.wasted_most_pages) return std::string(kNotAvailable);
  const auto added = static_cast<double>(*file.page_cache->added_pages);
  const std::string least = percent(static_cast<double>(*file.wasted_least_pages) / added);
  const std::string most = percent(static_cast<double>(*file.wasted_most_pages) / added);
  return least == most ? least : least + " to " + most;
}

AttachTable page_table(const FileChoice& choice) {
  AttachTable table{.heading = "files: pages that came into the cache",
                    .columns = {"file", "by\nfault", "by\nahead", "by\nhint", "by\nread", "by\nother",
                                "wasted", "left", "refaults"}};
  for (const auto& [name, file] : choice.lines) {
    const PageCache cache = file.page_cache.value_or(PageCache{});
    std::vector<std::string> cells{pages(cache.by.fault),      pages(cache.by.readahead),
                                   pages(cache.by.hint),       pages(cache.by.read),
                                   pages(cache.by.other),      wasted_cell(file),
                                   pages(cache.evicted_pages), pages(cache.refault_pages)};
    if (std::ranges::all_of(cells, [](const auto& cell) { return cell.empty() || cell == kNotAvailable; }))
      continue;
    cells.insert(cells.begin(), name);
    table.add(std::move(cells));
  }
  if (!table.lines.empty())
    table.sentences = {
        "ahead: by readahead; wasted: of the pages that came in, those that nobody used for certain, to "
        "those that nobody is known to have used; refaults: pages that came in again after they had "
        "left"};
  return table;
}

// "5117 EINVAL, 3 ENOMEM"
std::string refused_cell(const AttachedFile& file) {
  const auto rejected = file.hints ? file.hints->rejected : std::nullopt;
  if (!rejected || !file.hint_errors || file.hint_errors->empty()) return pages(rejected);
  std::string out;
  for (const auto& [name, calls] : *file.hint_errors)
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", cell_count(calls), printable(name));
  return out;
}

AttachTable hint_table(const FileChoice& choice) {
  AttachTable table{
      .heading = "files: what became of the hints",
      .columns = {"file", "calls", "refused", "pages\nbrought", "late", "useless", "needless", "cut\noff"}};
  for (const auto& [name, file] : choice.lines) {
    const Hints hints = file.hints.value_or(Hints{});
    const auto brought = file.page_cache ? file.page_cache->by.hint : std::nullopt;
    if (hints.issued.value_or(0) == 0 && brought.value_or(0) == 0) continue;
    table.add({name, pages(hints.issued), refused_cell(file), pages(brought), pages(hints.late_pages),
               pages(hints.useless_pages), pages(hints.needless_pages), pages(hints.truncated_pages)});
  }
  if (!table.lines.empty())
    table.sentences = {
        "of the pages that hints brought, late ones were still in flight when they were touched, useless "
        "ones left untouched; needless: hinted pages that were there already; cut off: those beyond what "
        "the kernel reads for one call"};
  return table;
}

AttachTable device_table(const RunRecord& record, const FileChoice& choice) {
  AttachTable table{.heading = "files: the device, and read calls",
                    .columns = {"file", "device", "/needed", "device\nreads", "half at\nmost", "p50", "p99",
                                "read\ncalls", "returned", "call\np99"}};
  for (const auto& [name, file] : choice.lines) {
    const BlockIo io = file.block_io.value_or(BlockIo{});
    const auto needed = needed_bytes(file, record.host.page_size_bytes);
    const bool some_reads = file.reads && file.reads->calls > 0;
    const bool some_io = io.reads.value_or(0) > 0;
    if (!some_reads && !some_io) continue;
    const auto size = io.request_bytes ? io.request_bytes->percentile(0.5) : std::nullopt;
    table.add(
        {name,
         !io.read_bytes ? std::string(kNotAvailable)
         : some_io      ? bytes(io.read_bytes)
                        : "",
         some_io && io.read_bytes && needed ? three_digits(static_cast<double>(*io.read_bytes) / *needed)
                                            : "",
         pages(io.reads), size ? bytes(*size) : "", io.lat_ns ? cell_ns(io.lat_ns->percentile(0.5)) : "",
         io.lat_ns ? cell_ns(io.lat_ns->percentile(0.99)) : "",
         file.reads ? cell_count(file.reads->calls) : std::string(kNotAvailable),
         some_reads ? bytes(file.reads->bytes) : "",
         some_reads ? cell_ns(file.reads->lat_ns.percentile(0.99)) : ""});
  }
  if (!table.lines.empty())
    table.sentences = {
        "/needed: bytes that the device delivered over those that were needed, a page for each fault that "
        "waited and what read calls returned (from the cache too); uses of pages that were mapped "
        "already are seen by nobody, so that mapped files needed more and the ratio is at most so "
        "high; half at most: the median size of a request"};
  return table;
}

}

std::vector<AttachTable> file_tables(const RunRecord& record, std::size_t top) {
  if (!record.target) return {};
  const FileChoice choice = choose(record, top);
  if (choice.lines.empty()) return {};
  std::vector<AttachTable> tables{memory_table(record, choice), page_table(choice), hint_table(choice),
                                  device_table(record, choice)};
  for (AttachTable& table : tables) drop_empty_columns(table);
  return tables;
}

}
