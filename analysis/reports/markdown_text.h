#pragma once
// GitHub-flavoured Markdown: text made harmless, tables that also read well as plain text.

#include <string>
#include <string_view>
#include <vector>

#include "analysis/run_record.h"

namespace iotrace {

// The text as it is seen, whatever is in it: punctuation that Markdown, HTML or a table would obey is
// escaped, control characters appear as \xNN.
std::string markdown_text(std::string_view text);

// The record's findings as a list under a heading.
std::string markdown_findings(const RunRecord& record);

// A pipe table. The first `labels` columns are left-aligned, the others right-aligned. Cells are put in as
// they are: escape what comes from outside.
class MarkdownTable {
public:
  MarkdownTable(std::vector<std::string> headings, std::size_t labels);

  void add_row(std::vector<std::string> cells);  // missing cells are empty
  bool empty() const { return lines_.size() == 1; }

  // Whole lines; a column that holds nothing but blanks and kNotAvailable is left out.
  std::string render() const;

private:
  std::size_t labels_;
  std::vector<std::vector<std::string>> lines_;  // the headings first
};

}
