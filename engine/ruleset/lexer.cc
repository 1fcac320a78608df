#include "engine/ruleset/lexer.h"

#include <cctype>

#include "engine/base/codes.h"

namespace rulerun {
namespace {

constexpr size_t kMaxBlockBytes = size_t{1} << 20;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsWordStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsWord(char c) { return IsWordStart(c) || IsDigit(c); }

class Lexer {
 public:
  Lexer(std::string_view text, const Location& where, int indent) : text_(text), start_(where), indent_(indent) {}

  Result<std::vector<Token>> Run() {
    if (text_.size() > kMaxBlockBytes) return Fail(0, "the block is too long");
    while (true) {
      SkipBlanks();
      if (at_ >= text_.size()) break;
      if (Status status = Next(); !status.ok()) return status.error();
    }
    tokens_.push_back({Token::Kind::kEnd, "", Place(at_), line_});
    return std::move(tokens_);
  }

 private:
  char Peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool Starts(std::string_view what) const { return text_.substr(at_, what.size()) == what; }

  Location Place(size_t at) const {
    Location place = start_;
    if (line_ == 0) {
      place.column += static_cast<int>(at);
    } else {
      place.line += line_;
      place.column = indent_ + static_cast<int>(at - line_start_) + 1;
    }
    return place;
  }
  Error Fail(size_t at, std::string message) const {
    return {Code::kBadText, std::move(message), Place(at).ToString(), ""};
  }

  void SkipBlanks() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#') {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      } else if (c == '\n') {
        ++line_;
        line_start_ = ++at_;
      } else if (c == ' ' || c == '\t' || c == '\r') {
        ++at_;
      } else {
        return;
      }
    }
  }

  void Push(Token::Kind kind, size_t begin, std::string text) {
    tokens_.push_back({kind, std::move(text), Place(begin), line_});
  }

  Status Next() {
    const char c = Peek();
    if (c == '"') return String();
    if (IsDigit(c) || (c == '-' && IsDigit(Peek(1)))) return Number();
    if (IsWordStart(c) || Starts("${")) return Name();
    for (const std::string_view sign : {"...", "=>"}) {
      if (!Starts(sign)) continue;
      Push(Token::Kind::kSign, at_, std::string(sign));
      at_ += sign.size();
      return {};
    }
    if (std::string_view("[]<>(){}|=,?!*@").find(c) == std::string_view::npos) {
      const bool printable = std::isprint(static_cast<unsigned char>(c)) != 0;
      return Fail(at_,
                  printable ? std::string("'") + c + "' has no meaning here" : "a character that has no meaning here");
    }
    Push(Token::Kind::kSign, at_, std::string(1, c));
    ++at_;
    return {};
  }

  // Letters, digits, '_', members behind '.', and ${..} anywhere in it.
  Status Name() {
    const size_t begin = at_;
    while (at_ < text_.size()) {
      if (IsWord(Peek())) {
        ++at_;
      } else if (Starts("${")) {
        const size_t end = text_.find('}', at_);
        if (end == std::string_view::npos || text_.substr(at_, end - at_).find('\n') != std::string_view::npos) {
          return Fail(at_, "'${' without '}'");
        }
        at_ = end + 1;
      } else if (Peek() == '.' && (IsWord(Peek(1)) || text_.substr(at_ + 1, 2) == "${")) {
        ++at_;
      } else {
        break;
      }
    }
    Push(Token::Kind::kName, begin, std::string(text_.substr(begin, at_ - begin)));
    return {};
  }

  Status Number() {
    const size_t begin = at_;
    bool is_float = false;
    ++at_;
    while (IsDigit(Peek())) ++at_;
    if (Peek() == '.' && IsDigit(Peek(1))) {
      is_float = true;
      ++at_;
      while (IsDigit(Peek())) ++at_;
    }
    const bool sign = Peek(1) == '-' || Peek(1) == '+';
    if ((Peek() == 'e' || Peek() == 'E') && IsDigit(Peek(sign ? 2 : 1))) {
      is_float = true;
      at_ += sign ? 2 : 1;
      while (IsDigit(Peek())) ++at_;
    }
    if (IsWord(Peek())) return Fail(begin, "a name must not begin with a digit");
    Push(is_float ? Token::Kind::kFloat : Token::Kind::kInt, begin, std::string(text_.substr(begin, at_ - begin)));
    return {};
  }

  Status String() {
    const size_t begin = at_++;
    std::string value;
    while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n') {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      value += text_[at_++];
    }
    if (Peek() != '"') return Fail(begin, "a string without its closing quote");
    ++at_;
    Push(Token::Kind::kString, begin, std::move(value));
    return {};
  }

  std::string_view text_;
  Location start_;
  int indent_;
  size_t at_ = 0;
  int line_ = 0;
  size_t line_start_ = 0;
  std::vector<Token> tokens_;
};

}  // namespace

Result<std::vector<Token>> Tokenize(std::string_view text, const Location& where, int indent) {
  return Lexer(text, where, indent).Run();
}

}  // namespace rulerun
