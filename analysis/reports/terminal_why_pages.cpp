// Pages of the file that came into the cache: who brought them, and for what.

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "analysis/reports/terminal_why_parts.h"
#include "analysis/row_facts.h"

namespace iotrace::terminal {

namespace {

using By = std::optional<Count> PageCacheBy::*;

constexpr std::array<std::pair<std::string_view, By>, 5> kBringers{{{"fault", &PageCacheBy::fault},
                                                                    {"readahead", &PageCacheBy::readahead},
                                                                    {"hint", &PageCacheBy::hint},
                                                                    {"read", &PageCacheBy::read},
                                                                    {"other", &PageCacheBy::other}}};

// Blank for none: most strategies have one bringer.
std::string per_op(Count pages, double ops) {
  return pages == 0 || ops <= 0 ? "" : three_digits(static_cast<double>(pages) / ops);
}

void add_page_row(WhyTable& table, const Row& row, MissingNumbers& missing) {
  const PageCache& pages = *row.page_cache;
  Count added = *pages.added_pages;
  double ops = ops_of(row.traced);
  table.start_row(row);
  table.add(ops > 0 ? three_digits(static_cast<double>(added) / ops)
                    : missing.mark(row, "traced", "added/op"));
  for (auto [name, bringer] : kBringers) {
    const auto& by = pages.by.*bringer;
    table.add(by ? per_op(*by, ops) : missing.mark(row, fmt::format("page_cache.by.{}", name), name));
  }
  table.add(pages.wasted_pages
                ? percent(static_cast<double>(*pages.wasted_pages) / static_cast<double>(added))
                : missing.mark(row, "page_cache.wasted_pages", "wasted"));
  table.add(pages.refault_pages ? per_op(*pages.refault_pages, ops)
                                : missing.mark(row, "page_cache.refault_pages", "refaults/op"));
}

}

std::string page_table(const WhyRows& rows, MissingNumbers& missing) {
  WhyTable table({{"added\n/op"},
                  {"by\nfault"},
                  {"by\nahead"},
                  {"by\nhint"},
                  {"by\nread"},
                  {"by\nother"},
                  {"wasted"},
                  {"refaults\n/op"}});
  std::vector<std::uint32_t> none, unknown;
  for (std::uint32_t index : rows.shown) {
    const Row& row = rows.row(index);
    if (!row.page_cache || !row.page_cache->added_pages)
      unknown.push_back(index);
    else if (*row.page_cache->added_pages == 0)
      none.push_back(index);
    else
      add_page_row(table, row, missing);
  }
  std::string out = "\npages of the file that came into the cache\n";
  if (!table.empty()) out += table.render(rows.options);
  if (!none.empty()) out += note("none: " + name_rows(rows.record, none));
  if (!unknown.empty())
    out += note(fmt::format("not known: {}: {}", name_rows(rows.record, unknown),
                            reason_missing(rows.row(unknown.front()), "page_cache")));
  return out;
}

}
