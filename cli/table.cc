#include "cli/table.h"

#include <algorithm>
#include <string_view>

#include "engine/base/text.h"

namespace rulerun::cli {
namespace {

constexpr size_t kGap = 2;
constexpr size_t kNarrowest = 20;  // of a wrapped column

std::string Padded(const std::string& text, size_t width, bool right) {
  const size_t used = DisplayWidth(text);
  const std::string space(width > used ? width - used : 0, ' ');
  return right ? space + text : text + space;
}

void TrimRight(std::string& line) { line.erase(line.find_last_not_of(' ') + 1); }

}  // namespace

size_t DisplayWidth(std::string_view text) {
  const auto is_start = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; };
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), is_start));
}

std::vector<std::string> Wrap(std::string_view text, size_t width) {
  std::vector<std::string> lines = {""};
  for (const std::string& word : Split(text, ' ')) {
    std::string& line = lines.back();
    if (line.empty()) {
      line = word;
    } else if (DisplayWidth(line) + 1 + DisplayWidth(word) <= width) {
      line += " " + word;
    } else {
      lines.push_back(word);
    }
  }
  return lines;
}

std::vector<size_t> Table::Widths() const {
  std::vector<size_t> widths(header_.size(), 0);
  const auto widen = [&](const std::vector<std::string>& row) {
    for (size_t i = 0; i < widths.size() && i < row.size(); ++i) widths[i] = std::max(widths[i], DisplayWidth(row[i]));
  };
  widen(header_);
  for (const auto& row : rows_) widen(row);
  return widths;
}

std::string Table::ToText(int width) const {
  const std::vector<size_t> widths = Widths();
  const size_t last = header_.size() - 1;
  size_t before = 0;
  for (size_t i = 0; i < last; ++i) before += widths[i] + kGap;
  size_t room = widths[last];
  if (width > 0)
    room =
        std::min(room, std::max(kNarrowest, static_cast<size_t>(width) - std::min(before, static_cast<size_t>(width))));

  std::string text;
  const auto print = [&](const std::vector<std::string>& row) {
    std::string line;
    for (size_t i = 0; i < last; ++i) {
      line += Padded(i < row.size() ? row[i] : "", widths[i], right_.count(i) > 0) + std::string(kGap, ' ');
    }
    const std::vector<std::string> lines = Wrap(last < row.size() ? row[last] : "", room);
    for (size_t i = 0; i < lines.size(); ++i) {
      if (i > 0) line = std::string(before, ' ');
      line += right_.count(last) > 0 ? Padded(lines[i], widths[last], true) : lines[i];
      TrimRight(line);
      text += line + "\n";
    }
  };
  print(header_);
  std::string rule;
  for (size_t i = 0; i <= last; ++i) rule += std::string(i == last ? room : widths[i], '-') + std::string(kGap, ' ');
  TrimRight(rule);
  text += rule + "\n";
  for (const auto& row : rows_) print(row);
  return text;
}

std::string Indented(std::string_view text, size_t indent, int width) {
  const size_t room =
      width > 0 && static_cast<size_t>(width) > indent + 20 ? static_cast<size_t>(width) - indent : std::string::npos;
  std::string lines;
  for (const std::string& line : Wrap(text, room)) lines += std::string(indent, ' ') + line + "\n";
  return lines;
}

}  // namespace rulerun::cli
