// Tables in plain text: aligned columns, the last one wrapped to the terminal.
#ifndef RULERUN_CLI_TABLE_H_
#define RULERUN_CLI_TABLE_H_

#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace rulerun::cli {

class Table {
 public:
  explicit Table(std::vector<std::string> header) : header_(std::move(header)) {}

  void AlignRight(size_t column) { right_.insert(column); }
  void Add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  bool empty() const { return rows_.empty(); }

  // `width`: columns of the terminal, 0 for no limit. Where the table is wider, its last column is wrapped between
  // words; columns before that stay whole.
  std::string ToText(int width) const;

 private:
  std::vector<size_t> Widths() const;

  std::vector<std::string> header_;
  std::vector<std::vector<std::string>> rows_;
  std::set<size_t> right_;
};

// Columns that UTF-8 text takes, every character counted as one.
size_t DisplayWidth(std::string_view text);

// Splits text between words into lines of at most `width` columns; a longer word stays whole.
std::vector<std::string> Wrap(std::string_view text, size_t width);

// The text in lines that begin `indent` columns in and end before `width`; 0: it is one line.
std::string Indented(std::string_view text, size_t indent, int width);

}  // namespace rulerun::cli

#endif  // RULERUN_CLI_TABLE_H_
