#include "analysis/table.h"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

namespace iotrace {

namespace {

constexpr std::size_t kGap = 2;

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (true) {
    std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return lines;
    text.remove_prefix(end + 1);
  }
}

// Pads for the width that is seen: the colour's escape sequences take none, and blanks take no colour.
std::string padded(const TableCell& cell, std::size_t width, bool right_aligned, bool colour) {
  std::string_view text = cell.text;
  std::string_view inked = text.substr(0, text.find_last_not_of(' ') + 1);
  std::string out = styled(inked, cell.style, colour);
  out += text.substr(inked.size());
  std::string space(width - std::min(width, display_width(text)), ' ');
  return right_aligned ? space + out : out + space;
}

void end_line(std::string& out) {
  out.erase(out.find_last_not_of(' ') + 1);
  out += '\n';
}

}

Table::Table(std::vector<TableColumn> columns, std::size_t labels)
    : columns_(std::move(columns)), labels_(labels) {}

void Table::add_row(std::vector<TableCell> cells) {
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

std::size_t Table::column_width(std::size_t column) const {
  std::size_t widest = 0;
  for (std::string_view line : lines_of(columns_[column].heading))
    widest = std::max(widest, display_width(line));
  for (const auto& row : rows_) widest = std::max(widest, display_width(row[column].text));
  return widest;
}

std::string Table::render(std::size_t width, bool colour) const {
  std::vector<std::size_t> labels(labels_);
  std::iota(labels.begin(), labels.end(), 0);
  std::size_t label_width = 0;
  for (std::size_t column : labels) label_width += column_width(column) + kGap;

  std::string out;
  std::vector<std::size_t> shown = labels;
  std::size_t used = label_width;
  for (std::size_t column = labels_; column < columns_.size(); ++column) {
    std::size_t needed = column_width(column) + kGap;
    if (used + needed > width + kGap && shown.size() > labels_) {
      out += render_columns(shown, colour) + '\n';
      shown = labels;
      used = label_width;
    }
    shown.push_back(column);
    used += needed;
  }
  return out + render_columns(shown, colour);
}

std::string Table::render_columns(const std::vector<std::size_t>& shown, bool colour) const {
  std::vector<std::size_t> widths;
  std::size_t heading_lines = 0;
  for (std::size_t column : shown) {
    widths.push_back(column_width(column));
    heading_lines = std::max(heading_lines, lines_of(columns_[column].heading).size());
  }

  std::string out;
  auto add_line = [&](auto cell_of) {
    std::string line;
    for (std::size_t i = 0; i < shown.size(); ++i) {
      if (i > 0) line.append(kGap, ' ');
      line += padded(cell_of(shown[i]), widths[i], columns_[shown[i]].right_aligned, colour);
    }
    end_line(line);
    out += line;
  };
  for (std::size_t i = 0; i < heading_lines; ++i)
    add_line([&](std::size_t column) {
      // Headings of fewer lines stand at the bottom, next to what they head.
      auto lines = lines_of(columns_[column].heading);
      std::size_t above = heading_lines - lines.size();
      return i < above ? TableCell() : TableCell(std::string(lines[i - above]), Style::kHeading);
    });
  for (const auto& row : rows_) add_line([&](std::size_t column) { return row[column]; });
  return out;
}

}
