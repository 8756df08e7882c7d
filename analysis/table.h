#pragma once
// Text tables for a terminal: aligned by what is seen (display width, not bytes), never wider than asked
// for: a table that is too wide continues below, with its label columns repeated.

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/text.h"

namespace iotrace {

struct TableColumn {
  std::string heading;  // may have several lines
  bool right_aligned = true;
};

struct TableCell {
  TableCell() = default;
  TableCell(std::string content, Style look = Style::kPlain) : text(std::move(content)), style(look) {}

  std::string text;
  Style style = Style::kPlain;
};

class Table {
public:
  // The first `labels` columns are repeated when the table has to continue below.
  Table(std::vector<TableColumn> columns, std::size_t labels);

  void add_row(std::vector<TableCell> cells);  // missing cells are empty
  bool empty() const { return rows_.empty(); }

  // Lines without trailing spaces, each ended by a newline.
  std::string render(std::size_t width, bool colour) const;

private:
  std::string render_columns(const std::vector<std::size_t>& shown, bool colour) const;
  std::size_t column_width(std::size_t column) const;

  std::vector<TableColumn> columns_;
  std::size_t labels_;
  std::vector<std::vector<TableCell>> rows_;
};

}
