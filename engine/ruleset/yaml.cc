#include "engine/ruleset/yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "engine/base/codes.h"
#include "engine/base/text.h"

namespace rulerun {
namespace {

constexpr size_t kMaxBytes = size_t{16} << 20;  // of a file
constexpr size_t kMaxNodes = 1'000'000;         // after aliases are expanded: ten lines can stand for billions
constexpr size_t kMaxDepth = 200;

Error RuleError(Code code, const Location& where, std::string message, std::string remedy = "") {
  return {code, std::move(message), where.ToString(), std::move(remedy)};
}

// The comment that ends a line, without '#', or "". Looks past quoted text.
std::string CommentOf(std::string_view line) {
  char quote = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote != 0) {
      if (c == '\\' && quote == '"') {
        ++i;
      } else if (c == quote) {
        quote = 0;
      }
    } else if ((c == '"' || c == '\'') &&
               (i == 0 || std::string_view(" [{,:").find(line[i - 1]) != std::string_view::npos)) {
      quote = c;
    } else if (c == '#' && (i == 0 || line[i - 1] == ' ')) {
      const size_t begin = line.find_first_not_of("# ", i);
      if (begin == std::string_view::npos) return "";
      const size_t end = line.find_last_not_of(" \r");
      return std::string(line.substr(begin, end + 1 - begin));
    }
  }
  return "";
}

// Where the value itself starts on its line, behind an anchor (&name) or a tag (!name).
size_t SkipProperties(std::string_view line, size_t column) {
  while (column < line.size() && (line[column] == '&' || line[column] == '!')) {
    column = std::min(line.find(' ', column), line.size());
    while (column < line.size() && line[column] == ' ') ++column;
  }
  return column;
}

size_t LeadingSpaces(std::string_view text) { return std::min(text.find_first_not_of(' '), text.size()); }

// Builds the tree from the parser's events.
class Builder : public YAML::EventHandler {
 public:
  Builder(std::string_view text, const std::string& shown_as) : file_(std::make_shared<const std::string>(shown_as)) {
    for (const std::string& line : Split(text, '\n')) lines_.push_back(line);
  }

  const std::optional<Error>& error() const { return error_; }
  bool has_root() const { return has_root_; }
  Yaml TakeRoot() { return std::move(root_); }
  Location At(int line, int column) const { return {file_, std::max(line, 0) + 1, std::max(column, 0) + 1}; }
  Location At(const YAML::Mark& mark) const { return At(mark.line, mark.column); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (has_root_) Fail(Code::kNotYaml, At(mark), "a rule file holds one document; this is a second one");
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Yaml null;
    null.where = At(mark);
    Finish(std::move(null), anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) return Fail(Code::kNotYaml, At(mark), "this alias stands inside the value it names");
    nodes_ += found->second.size;
    if (nodes_ > kMaxNodes) return Fail(Code::kTooLarge, At(mark), "this alias makes the file too large");
    Yaml copy = found->second.value;
    Add(std::move(copy), 0);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    if (error_) return;
    Yaml scalar;
    scalar.kind = Yaml::Kind::kScalar;
    scalar.scalar = value;
    scalar.quoted = tag != "?" && !tag.empty();
    const std::string_view line = LineAt(mark.line);
    const size_t column = SkipProperties(line, static_cast<size_t>(std::max(mark.column, 0)));
    scalar.where = At(mark.line, static_cast<int>(column));
    if (column < line.size() && (line[column] == '|' || line[column] == '>')) {
      scalar.block_line_offset = 1;
      scalar.block_indent = BlockIndent(mark.line + 1, value);
    }
    Finish(std::move(scalar), anchor);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    Open(Yaml::Kind::kSequence, mark, anchor);
  }
  void OnSequenceEnd() override { Close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    Open(Yaml::Kind::kMap, mark, anchor);
    const std::string_view line = LineAt(mark.line);
    const bool opens_line = line.find_first_not_of(" -") >= static_cast<size_t>(std::max(mark.column, 0));
    if (!error_ && opens_line) stack_.back().value.comment = CommentOf(line);
  }
  void OnMapEnd() override { Close(); }

 private:
  struct Frame {
    Yaml value;
    YAML::anchor_t anchor = 0;
    size_t nodes_before = 0;
    bool has_key = false;  // a map's key waits for its value
    std::string key;
    Location key_place;
    std::vector<std::pair<Yaml, Location>> merged;  // values of "<<"
    std::set<std::string> keys;
  };
  struct Anchored {
    Yaml value;
    size_t size = 1;  // nodes
  };

  void Fail(Code code, const Location& where, std::string message, std::string remedy = "") {
    if (!error_) error_ = RuleError(code, where, std::move(message), std::move(remedy));
  }

  std::string_view LineAt(int line) const {
    return line >= 0 && static_cast<size_t>(line) < lines_.size() ? std::string_view(lines_[static_cast<size_t>(line)])
                                                                  : std::string_view();
  }

  // Columns that the text of a block scalar is set in, seen from its first line that is not blank.
  int BlockIndent(int first_line, const std::string& value) const {
    size_t at = 0;
    while (at < value.size() && value[at] == '\n') ++at;
    for (int line = first_line; static_cast<size_t>(line) < lines_.size(); ++line) {
      const std::string_view text = LineAt(line);
      if (text.find_first_not_of(" \r") == std::string_view::npos) continue;
      return static_cast<int>(LeadingSpaces(text) - LeadingSpaces(std::string_view(value).substr(at)));
    }
    return 0;
  }

  void Open(Yaml::Kind kind, const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (error_) return;
    if (stack_.size() >= kMaxDepth) return Fail(Code::kTooLarge, At(mark), "nested too deeply");
    Frame frame;
    frame.value.kind = kind;
    const size_t column = SkipProperties(LineAt(mark.line), static_cast<size_t>(std::max(mark.column, 0)));
    frame.value.where = At(mark.line, column < LineAt(mark.line).size() ? static_cast<int>(column) : mark.column);
    frame.anchor = anchor;
    frame.nodes_before = nodes_;
    stack_.push_back(std::move(frame));
  }

  void Close() {
    if (error_) return;
    Frame frame = std::move(stack_.back());
    stack_.pop_back();
    Merge(frame);
    if (error_) return;
    Remember(frame.anchor, frame.value, nodes_ + 1 - frame.nodes_before);
    Add(std::move(frame.value), 1);
  }

  // "<<: *other": the other map's entries, where this one has none of that key.
  void Merge(Frame& frame) {
    for (auto& [source, where] : frame.merged) {
      std::vector<Yaml> maps;
      if (source.IsSequence()) {
        maps = std::move(source.items);
      } else {
        maps.push_back(std::move(source));
      }
      for (Yaml& map : maps) {
        if (!map.IsMap()) return Fail(Code::kNotYaml, where, "'<<' takes a map, or a list of maps");
        for (size_t i = 0; i < map.entries.size(); ++i) {
          if (!frame.keys.insert(map.entries[i].first).second) continue;
          frame.value.entries.push_back(std::move(map.entries[i]));
          frame.value.key_places.push_back(map.key_places[i]);
        }
      }
    }
  }

  void Remember(YAML::anchor_t anchor, const Yaml& value, size_t size) {
    if (anchor != 0) anchors_[anchor] = {value, size};
  }

  void Finish(Yaml value, YAML::anchor_t anchor) {
    if (error_) return;
    Remember(anchor, value, 1);
    Add(std::move(value), 1);
  }

  void Add(Yaml value, size_t count) {
    if (error_) return;
    nodes_ += count;
    if (nodes_ > kMaxNodes) return Fail(Code::kTooLarge, value.where, "the file has too many values");
    if (stack_.empty()) {
      root_ = std::move(value);
      has_root_ = true;
      return;
    }
    Frame& frame = stack_.back();
    if (frame.value.IsSequence()) {
      frame.value.items.push_back(std::move(value));
    } else if (!frame.has_key) {
      AddKey(frame, value);
    } else {
      frame.has_key = false;
      if (frame.key == "<<") {
        frame.merged.emplace_back(std::move(value), frame.key_place);
      } else {
        frame.value.entries.emplace_back(std::move(frame.key), std::move(value));
        frame.value.key_places.push_back(frame.key_place);
      }
    }
  }

  void AddKey(Frame& frame, const Yaml& key) {
    if (!key.IsScalar()) return Fail(Code::kNotYaml, key.where, "a key must be a plain word");
    if (key.scalar != "<<" && !frame.keys.insert(key.scalar).second) {
      return Fail(Code::kDuplicateKey, key.where, "the key '" + key.scalar + "' stands here twice");
    }
    frame.key = key.scalar;
    frame.key_place = key.where;
    frame.has_key = true;
  }

  std::shared_ptr<const std::string> file_;
  std::vector<std::string> lines_;
  std::vector<Frame> stack_;
  std::map<YAML::anchor_t, Anchored> anchors_;
  std::optional<Error> error_;
  Yaml root_;
  bool has_root_ = false;
  size_t nodes_ = 0;
};

std::optional<double> ParseDouble(std::string_view text) {
  if (StartsWith(text, "+")) text.remove_prefix(1);
  double value = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || end.ec != std::errc() || end.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

// What most often is behind an error of the YAML parser.
std::string YamlRemedy(const std::string& message) {
  if (message.find("flow") != std::string::npos || message.find("unknown token") != std::string::npos) {
    return "text that holds '?', '@', '*', '[', '{', ': ' or ' #' must stand in quotes";
  }
  return "";
}

}  // namespace

Yaml::Yaml() = default;
Yaml::~Yaml() = default;
Yaml::Yaml(const Yaml& other) = default;
Yaml::Yaml(Yaml&& other) noexcept = default;
Yaml& Yaml::operator=(const Yaml& other) = default;
Yaml& Yaml::operator=(Yaml&& other) noexcept = default;

const Yaml* Yaml::Get(std::string_view key) const {
  for (const auto& [name, value] : entries) {
    if (name == key) return &value;
  }
  return nullptr;
}

std::optional<int64_t> Yaml::AsInt() const {
  if (kind != Kind::kScalar || quoted) return std::nullopt;
  std::string_view text = scalar;
  if (StartsWith(text, "+")) text.remove_prefix(1);
  int64_t value = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || end.ec != std::errc() || end.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> Yaml::AsDouble() const {
  if (kind != Kind::kScalar || quoted) return std::nullopt;
  return ParseDouble(scalar);
}

std::optional<bool> Yaml::AsBool() const {
  if (kind != Kind::kScalar || quoted) return std::nullopt;
  if (scalar == "true") return true;
  if (scalar == "false") return false;
  return std::nullopt;
}

std::optional<std::vector<std::string>> Yaml::AsNames() const {
  if (IsScalar()) return std::vector<std::string>{scalar};
  if (!IsSequence()) return std::nullopt;
  std::vector<std::string> names;
  for (const Yaml& item : items) {
    if (!item.IsScalar()) return std::nullopt;
    names.push_back(item.scalar);
  }
  return names;
}

Location Yaml::TextStart() const {
  Location start = where;
  if (block_line_offset > 0) {
    start.line += block_line_offset;
    start.column = block_indent + 1;
  } else if (quoted) {
    ++start.column;
  }
  return start;
}

std::vector<std::string> Yaml::Keys() const {
  std::vector<std::string> keys;
  for (const auto& [key, value] : entries) keys.push_back(key);
  return keys;
}

Result<Yaml> ParseYaml(std::string_view text, const std::string& shown_as) {
  const Error too_large{Code::kTooLarge, "larger than 16 MiB, which no rule file is", shown_as, ""};
  if (text.size() > kMaxBytes) return too_large;
  Builder builder(text, shown_as);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    while (!builder.error() && parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& failure) {
    if (builder.error()) return *builder.error();
    return RuleError(Code::kNotYaml, builder.At(failure.mark), "not valid YAML: " + failure.msg,
                     YamlRemedy(failure.msg));
  } catch (const std::exception& failure) {
    return RuleError(Code::kNotYaml, builder.At(0, 0), std::string("not valid YAML: ") + failure.what());
  }
  if (builder.error()) return *builder.error();
  if (!builder.has_root()) return RuleError(Code::kNotYaml, builder.At(0, 0), "the file is empty");
  return builder.TakeRoot();
}

Result<Yaml> ReadYaml(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  if (!file || text.fail()) {
    return Error{Code::kMissingFile, "the file cannot be read", path, "check the path and the permissions"};
  }
  return ParseYaml(text.str(), path);
}

}  // namespace rulerun
