#include "analysis/reports/live.h"

#include <algorithm>

#include <fmt/format.h>

#include "analysis/attach_facts.h"
#include "analysis/format.h"
#include "analysis/reports/wording_attach.h"
#include "analysis/table.h"

namespace iotrace {

namespace {

std::string per_second(const std::optional<Count>& count, double seconds) {
  return count && seconds > 0 ? three_digits(static_cast<double>(*count) / seconds)
                              : std::string(kNotAvailable);
}

// Threads that wait at once, on average: seconds of waiting per second.
std::string blocked(const std::optional<double>& waited_s, double seconds) {
  return waited_s && seconds > 0 ? fmt::format("{:.2f}", *waited_s / seconds) : std::string(kNotAvailable);
}

// As many columns as fit, each line no wider than asked for.
std::string fitting(const wording::AttachTable& content, std::size_t width) {
  for (std::size_t count = content.columns.size(); count > 0; --count) {
    std::vector<TableColumn> columns;
    for (std::size_t i = 0; i < count; ++i) columns.push_back({content.columns[i], i >= content.labels});
    Table table(std::move(columns), count);
    for (const auto& line : content.lines) {
      std::vector<TableCell> cells(line.begin(),
                                   line.begin() + static_cast<std::ptrdiff_t>(std::min(count, line.size())));
      table.add_row(std::move(cells));
    }
    std::string text = table.render(width, false), out;
    bool fits = true;
    for (std::size_t start = 0; start < text.size();) {
      const std::size_t end = text.find('\n', start);
      const std::string line = text.substr(start, end - start);
      fits = fits && display_width(line) <= width;
      out += clipped(line, width) + '\n';
      start = end + 1;
    }
    if (fits || count == 1) return out;
  }
  return {};
}

// The file tables' most telling columns in one.
wording::AttachTable files_so_far(const RunRecord& record, std::size_t top) {
  wording::AttachTable table{
      .columns = {"file", "waits", "p99", "waited", "resident", "ahead", "refaults", "device", "reads"}};
  std::vector<const AttachedFile*> files;
  for (const AttachedFile& file : record.files)
    if (is_active(file)) files.push_back(&file);
  std::ranges::stable_sort(files, std::greater(),
                           [](const AttachedFile* file) { return waited_seconds(*file); });
  if (files.size() > top) files.resize(top);
  for (const AttachedFile* file : files) {
    const PageCache cache = file->page_cache.value_or(PageCache{});
    const auto latency = waiting_latency(file->faults);
    const auto resident = resident_ratio(*file);
    table.add(
        {shortened_path(printable(file->path), 30), wording::cell_count(waiting_faults(*file).value_or(0)),
         latency ? wording::cell_ns(latency->percentile(0.99)) : "", human_ns(1e9 * waited_seconds(*file)),
         resident ? percent(*resident) : "", wording::cell_count(cache.by.readahead.value_or(0)),
         wording::cell_count(cache.refault_pages.value_or(0)),
         file->block_io && file->block_io->read_bytes.value_or(0) > 0
             ? human_bytes(static_cast<double>(*file->block_io->read_bytes))
             : "",
         file->reads ? wording::cell_count(file->reads->calls) : ""});
  }
  return table;
}

}

std::string live_line(const Interval& interval) {
  const double s = interval.seconds;
  return fmt::format(
      "{:.1f} s: faults {}/s, {}/s wait; pages +{}/s -{}/s, {}/s come back; hints {}/s, {}/s refused; reads "
      "{}/s; "
      "device {} MB/s; threads blocked: faults {}, reads {}, locks {}",
      interval.begin_s + s, per_second(interval.faults, s), per_second(interval.waiting_faults, s),
      per_second(interval.added_pages, s), per_second(interval.evicted_pages, s),
      per_second(interval.refault_pages, s), per_second(interval.hints, s),
      per_second(interval.hints_rejected, s), per_second(interval.reads, s),
      interval.device_read_bytes && s > 0
          ? megabytes_per_s(static_cast<double>(*interval.device_read_bytes) / s)
          : std::string(kNotAvailable),
      blocked(interval.fault_wait_s, s), blocked(interval.read_wait_s, s), blocked(interval.lock_wait_s, s));
}

std::string live_table(const RunRecord& so_far, std::size_t top, std::size_t width) {
  std::string out =
      clipped(fmt::format("{}; Ctrl-C ends and reports", wording::watch_facts(so_far).front()), width) + '\n';
  if (!so_far.intervals.empty()) {
    const Interval& last = so_far.intervals.back();
    const double s = last.seconds;
    wording::AttachTable rates{.labels = 0,
                               .columns = {"faults/s", "wait/s", "device MB/s", "pages +/s", "-/s",
                                           "refaults/s", "hints/s", "refused/s", "reads/s"}};
    rates.add({per_second(last.faults, s), per_second(last.waiting_faults, s),
               last.device_read_bytes && s > 0
                   ? megabytes_per_s(static_cast<double>(*last.device_read_bytes) / s)
                   : std::string(kNotAvailable),
               per_second(last.added_pages, s), per_second(last.evicted_pages, s),
               per_second(last.refault_pages, s), per_second(last.hints, s),
               per_second(last.hints_rejected, s), per_second(last.reads, s)});
    out += fitting(rates, width);
  }
  if (const auto files = files_so_far(so_far, top); !files.lines.empty()) out += '\n' + fitting(files, width);
  wording::AttachTable threads = wording::thread_table(so_far, top);
  if (threads.lines.empty()) return out;
  std::ranges::for_each(threads.columns,
                        [](std::string& heading) { std::ranges::replace(heading, '\n', ' '); });
  return out + '\n' + fitting(threads, width);
}

}
