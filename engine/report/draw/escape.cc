#include "engine/report/draw/escape.h"

#include <charconv>
#include <cmath>

namespace rulerun {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

bool IsContinuation(unsigned char c) { return (c & 0xC0U) == 0x80U; }

// Bytes of the UTF-8 character that starts here, 0 where none does: overlong forms, surrogates, what is beyond Unicode.
size_t CharacterLength(std::string_view text) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const unsigned first = byte(0);
  if (first < 0x80U) return 1;
  const size_t length = first >= 0xF0U ? 4 : first >= 0xE0U ? 3 : 2;
  if (first < 0xC2U || first > 0xF4U) return 0;
  for (size_t i = 1; i < length; ++i) {
    if (!IsContinuation(static_cast<unsigned char>(byte(i)))) return 0;
  }
  const unsigned second = byte(1);
  if ((first == 0xE0U && second < 0xA0U) || (first == 0xEDU && second > 0x9FU)) return 0;
  if ((first == 0xF0U && second < 0x90U) || (first == 0xF4U && second > 0x8FU)) return 0;
  const bool not_a_character = first == 0xEFU && second == 0xBFU && byte(2) > 0xBDU;
  return not_a_character ? 0 : length;
}

// Calls `add` with every character, whole; control characters and broken ones are U+FFFD.
template <typename Add>
void ForEachCharacter(std::string_view text, const Add& add) {
  while (!text.empty()) {
    const size_t length = CharacterLength(text);
    const auto first = static_cast<unsigned char>(text[0]);
    const bool control = (first < 0x20U && first != '\t' && first != '\n') || first == 0x7FU;
    add(length == 0 || control ? kReplacement : text.substr(0, length));
    text.remove_prefix(length == 0 ? 1 : length);
  }
}

}  // namespace

std::string XmlText(std::string_view text) {
  std::string escaped;
  ForEachCharacter(text, [&](std::string_view character) {
    switch (character[0]) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += character;
    }
  });
  return escaped;
}

std::string DotString(std::string_view text) {
  std::string quoted = "\"";
  ForEachCharacter(text, [&](std::string_view character) {
    if (character == "\n") {
      quoted += "\\n";
      return;
    }
    if (character == "\"" || character == "\\") quoted += '\\';
    quoted += character;
  });
  return quoted + "\"";
}

std::string ShortNumber(double value) {
  const double rounded = std::round(value * 10) / 10;
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), rounded == 0 ? 0.0 : rounded);
  return std::string(buffer, end.ptr);
}

}  // namespace rulerun
