#include "engine/report/draw/measure.h"

#include <algorithm>
#include <array>

namespace rulerun {
namespace {

// Advance widths of Helvetica for the characters 32 to 126, in thousandths of the size of type.
constexpr std::array<int, 95> kWidths = {
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333,  278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
    611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667,  611, 722, 667, 944, 667,
    667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278,  556, 556, 222, 222, 500,
    222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500,  500, 334, 260, 334, 584};
constexpr int kOtherWidth = 600;
constexpr double kBold = 1.07;  // wider than the regular face, and room for faces that are a little wider

constexpr double kLeastWidth = 64;

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

// Bytes of the first `characters` characters.
size_t BytesOf(std::string_view text, size_t characters) {
  size_t at = 0;
  for (size_t i = 0; i < characters && at < text.size(); ++i) {
    ++at;
    while (at < text.size() && IsContinuation(text[at])) ++at;
  }
  return at;
}

size_t CountCharacters(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return !IsContinuation(c); }));
}

}  // namespace

double TextWidth(std::string_view text, double size) {
  int width = 0;
  for (const char c : text) {
    if (IsContinuation(c)) continue;
    width += c >= ' ' && c <= '~' ? kWidths[static_cast<size_t>(c - ' ')] : kOtherWidth;
  }
  return width * size / 1000;
}

std::string Elide(std::string_view text, size_t most) {
  const size_t characters = CountCharacters(text);
  if (characters <= most) return std::string(text);
  const size_t tail = (most - 1) / 2;
  const size_t head = most - 1 - tail;
  return std::string(text.substr(0, BytesOf(text, head))) + "…" +
         std::string(text.substr(BytesOf(text, characters - tail)));
}

Size TextBox(const DrawnNode& node) {
  double width = TextWidth(node.title, kTitleSize) * kBold;
  double height = kTitleLine + 2 * kPaddingY;
  if (!node.subtitle.empty()) {
    width = std::max(width, TextWidth(node.subtitle, kTextSize));
    height += kTextLine;
  }
  for (const std::string& line : node.lines) {
    width = std::max(width, TextWidth(line, kTextSize));
    height += kTextLine;
  }
  return {std::max(kLeastWidth, width * 1.03 + 2 * kPaddingX), height};
}

std::vector<std::vector<std::string>> OutputLabels(const Drawing& drawing) {
  std::vector<std::vector<std::string>> labels(drawing.nodes.size());
  for (const DrawnEdge& edge : drawing.edges) {
    auto& of_node = labels[edge.from];
    const auto slot = static_cast<size_t>(std::max(edge.from_slot, 0));
    if (of_node.size() <= slot) of_node.resize(slot + 1);
    // A boundary says its type in its box, and what stands for something elsewhere has none of its own.
    const Tone tone = drawing.nodes[edge.from].tone;
    if (tone != Tone::kBoundary) of_node[slot] = edge.type;
  }
  return labels;
}

}  // namespace rulerun
