#include "analysis/findings/attached.h"

#include <algorithm>

#include <fmt/format.h>

#include "analysis/text.h"

namespace iotrace {

namespace {

constexpr std::size_t kNamed = 2;       // more make a sentence unreadable
constexpr std::size_t kNameWidth = 40;  // of a path in a sentence

}

FileIndexes files_that(const RunRecord& record, const std::function<bool(const AttachedFile&)>& hold) {
  FileIndexes files;
  for (std::uint32_t index = 0; index < record.files.size(); ++index)
    if (hold(record.files[index])) files.push_back(index);
  return files;
}

std::vector<FileIndexes> by_extension(const RunRecord& record, const FileIndexes& files) {
  std::vector<FileIndexes> groups;
  for (std::uint32_t index : files) {
    const std::string& extension = record.files[index].extension;
    auto same = std::ranges::find_if(groups, [&](const FileIndexes& group) {
      return !extension.empty() && record.files[group.front()].extension == extension;
    });
    if (same == groups.end())
      groups.push_back({index});
    else
      same->push_back(index);
  }
  return groups;
}

std::string name_files(const RunRecord& record, const FileIndexes& files) {
  std::string out;
  const std::size_t named = std::min(kNamed, files.size());
  for (std::size_t i = 0; i < named; ++i) {
    const bool last = i > 0 && i + 1 == files.size();
    out += (i == 0 ? ""
            : last ? " and "
                   : ", ") +
           shortened_path(printable(record.files[files[i]].path), kNameWidth);
  }
  return files.size() > named ? fmt::format("{} and {} more", out, files.size() - named) : out;
}

std::vector<Finding> on_files(std::vector<Finding> findings, const RunRecord& record,
                              const FileIndexes& files) {
  if (files.empty()) return findings;
  for (Finding& finding : findings) {
    finding.rows = files;
    if (finding.text.ends_with('.')) finding.text.pop_back();
    finding.text += fmt::format("; on {}.", name_files(record, files));
  }
  return findings;
}

AttachedFile sum_of(const RunRecord& record, const FileIndexes& files) {
  std::vector<const AttachedFile*> parts;
  for (std::uint32_t index : files) parts.push_back(&record.files[index]);
  return sum_of(parts);
}

}
