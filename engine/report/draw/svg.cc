#include "engine/report/draw/svg.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/base/text.h"
#include "engine/report/draw/escape.h"
#include "engine/report/draw/measure.h"
#include "engine/report/draw/style.h"

namespace rulerun {
namespace {

constexpr double kLeastWidth = 420;  // room for a legend beside a narrow graph
constexpr double kLegendLine = 20;
constexpr double kHeading = 26;
constexpr double kHeadingSize = 15;
constexpr double kWideFace = 1.12;  // bold, and room for a face that is a little wider
constexpr double kBetween = 56;     // pictures side by side
constexpr double kChip = 12;
constexpr double kArrowLength = 7;
constexpr double kArrowHalf = 3.4;
constexpr double kCorner = 6;

std::string Number(double value) { return ShortNumber(value); }

std::string Rectangle(const Box& box, double corner) {
  return "<rect x=\"" + Number(box.x) + "\" y=\"" + Number(box.y) + "\" width=\"" + Number(box.width) + "\" height=\"" +
         Number(box.height) + "\" rx=\"" + Number(corner) + "\"/>";
}

std::string Text(double x, double y, std::string_view style, std::string_view text) {
  const std::string attribute = style.empty() ? "" : " class=\"" + std::string(style) + "\"";
  return "<text x=\"" + Number(x) + "\" y=\"" + Number(y) + "\"" + attribute + ">" + XmlText(text) + "</text>";
}

std::string PathOf(const std::vector<Point>& route) {
  std::string path = "M" + Number(route[0].x) + " " + Number(route[0].y);
  for (size_t i = 1; i + 2 < route.size(); i += 3) {
    const bool upright = route[i].x == route[i - 1].x && route[i + 2].x == route[i].x && route[i + 1].x == route[i].x;
    if (upright) {
      path += "V" + Number(route[i + 2].y);
      continue;
    }
    path += "C";
    for (size_t k = i; k < i + 3; ++k) path += (k == i ? "" : " ") + Number(route[k].x) + " " + Number(route[k].y);
  }
  return path;
}

std::string ArrowHead(const std::vector<Point>& route) {
  const Point tip = route.back();
  const Point before = route[route.size() - 2];
  const double length = std::hypot(tip.x - before.x, tip.y - before.y);
  const double dx = length == 0 ? 0 : (tip.x - before.x) / length;
  const double dy = length == 0 ? 1 : (tip.y - before.y) / length;
  const Point base = {tip.x - dx * kArrowLength, tip.y - dy * kArrowLength};
  return "M" + Number(tip.x) + " " + Number(tip.y) + "L" + Number(base.x - dy * kArrowHalf) + " " +
         Number(base.y + dx * kArrowHalf) + "L" + Number(base.x + dy * kArrowHalf) + " " +
         Number(base.y - dx * kArrowHalf) + "Z";
}

std::string Tooltip(const DrawnNode& node) {
  std::string text;
  for (const auto& [heading, detail] : node.details) text += Join({heading, ": ", detail, "\n"}, "");
  return text.empty() ? "" : "<title>" + XmlText(text) + "</title>";
}

class Writer {
 public:
  explicit Writer(const SvgOptions& options) : options_(options) {}

  void Graph(const Drawing& drawing, const Layout& layout) {
    const size_t first = next_;
    std::vector<size_t> numbers = NumberNodes(drawing);
    for (size_t i = 0; i < drawing.edges.size(); ++i) Edge(drawing.edges[i], layout.routes[i], numbers);
    const auto labels = OutputLabels(drawing);
    for (size_t i = 0; i < labels.size(); ++i) {
      for (size_t slot = 0; slot < labels[i].size(); ++slot) {
        const Point at = layout.labels[i][slot];
        if (!labels[i][slot].empty()) text_ += Text(at.x, at.y, "rr-l", labels[i][slot]) + "\n";
      }
    }
    next_ = first;
    for (size_t i = 0; i < drawing.nodes.size(); ++i) Node(drawing.nodes[i], layout.nodes[i], layout.bodies[i]);
  }

  const std::string& text() const { return text_; }

 private:
  // A box's number is followed by those of its subgraphs' boxes.
  std::vector<size_t> NumberNodes(const Drawing& drawing) {
    std::vector<size_t> numbers;
    for (const DrawnNode& node : drawing.nodes) {
      numbers.push_back(next_++);
      for (const Drawing& body : node.bodies) next_ += CountNodes(body);
    }
    return numbers;
  }

  void Edge(const DrawnEdge& edge, const std::vector<Point>& route, const std::vector<size_t>& numbers) {
    if (route.size() < 4) return;
    const std::string carries(Name(edge.carries));
    const std::string ends = options_.id.empty() ? ""
                                                 : " data-f=\"" + std::to_string(numbers[edge.from]) + "\" data-t=\"" +
                                                       std::to_string(numbers[edge.to]) + "\"";
    text_ += "<path class=\"rr-e rr-e-" + carries + "\"" + ends + " d=\"" + PathOf(route) + "\"/>";
    text_ += "<path class=\"rr-a-" + carries + "\" d=\"" + ArrowHead(route) + "\"/>\n";
  }

  void Node(const DrawnNode& node, const Box& box, const std::vector<Layout>& bodies) {
    const std::string id = options_.id.empty() ? "" : " id=\"" + options_.id + std::to_string(next_) + "\"";
    ++next_;
    const bool pill = node.op.empty();
    text_ += "<g class=\"rr-n rr-" + std::string(Name(node.tone)) + (node.marked ? " rr-m" : "") +
             (node.bodies.empty() ? "" : " rr-c") + "\"" + id + ">";
    if (options_.tooltips) text_ += Tooltip(node);
    text_ += Rectangle(box, pill ? std::min(box.height / 2, 16.0) : kCorner);
    const double x = box.x + box.width / 2;
    double y = box.y + kPaddingY + kTitleLine - 4;
    text_ += Text(x, y, "rr-t", node.title);
    y += 2;
    if (!node.subtitle.empty()) text_ += Text(x, y += kTextLine, "rr-s", node.subtitle);
    for (const std::string& line : node.lines) text_ += Text(x, y += kTextLine, "", line);
    text_ += "</g>\n";
    for (size_t i = 0; i < bodies.size(); ++i) Body(node.bodies[i], bodies[i]);
  }

  void Body(const Drawing& body, const Layout& layout) {
    const Box& frame = layout.frame;
    text_ += "<g><rect class=\"rr-f\" x=\"" + Number(frame.x) + "\" y=\"" + Number(frame.y) + "\" width=\"" +
             Number(frame.width) + "\" height=\"" + Number(frame.height) + "\" rx=\"4\"/>";
    text_ += Text(frame.x + kPaddingX, frame.y + kTextLine + 2, "rr-s rr-k", body.title) + "</g>\n";
    Graph(body, layout);
  }

  const SvgOptions& options_;
  std::string text_;
  size_t next_ = 0;
};

// What the colours and lines mean, for those in use.
class Legend {
 public:
  Legend(const Drawing& drawing, double width) : width_(width) {
    const auto counts = CountTones(drawing);
    for (const Tone tone : kTones) {
      const size_t count = counts[static_cast<size_t>(tone)];
      if (count == 0 || tone == Tone::kBoundary || tone == Tone::kElsewhere) continue;
      const std::string text = std::string(Words(tone)) + " (" + std::to_string(count) + ")";
      const Point at = Next(text);
      text_ += "<g class=\"rr-n rr-" + std::string(Name(tone)) + "\" data-tone=\"" + std::string(Name(tone)) + "\">" +
               Rectangle({at.x, at.y - kChip + 2, kChip, kChip}, 3) + Text(at.x + kChip + 6, at.y, "rr-k", text) +
               "</g>";
    }
    for (const Carries carries : {Carries::kInt8, Carries::kFloat, Carries::kOther}) {
      if (!Flows(drawing, carries)) continue;
      const std::string text = std::string(carries == Carries::kOther ? "other" : Name(carries)) + " values";
      const Point at = Next(text);
      text_ += "<path class=\"rr-e rr-e-" + std::string(Name(carries)) + "\" d=\"M" + Number(at.x - 4) + " " +
               Number(at.y - 4) + "h" + Number(kChip + 6) + "\"/>" + Text(at.x + kChip + 6, at.y, "rr-k", text);
    }
  }

  const std::string& text() const { return text_; }
  double height() const { return text_.empty() ? 0 : y_ + 14; }

 private:
  Point Next(const std::string& text) {
    const double width = kChip + 6 + TextWidth(text, kTextSize) * 1.03 + 18;
    if (x_ > 0 && x_ + width > width_) {
      x_ = 0;
      y_ += kLegendLine;
    }
    const Point at = {x_, y_};
    x_ += width;
    return at;
  }

  static bool Flows(const Drawing& drawing, Carries carries) {
    return std::any_of(drawing.edges.begin(), drawing.edges.end(),
                       [&](const DrawnEdge& edge) { return edge.carries == carries; });
  }

  double width_;
  double x_ = 0;
  double y_ = kChip;
  std::string text_;
};

constexpr std::string_view kGround = "<rect class=\"rr-bg\" width=\"100%\" height=\"100%\"/>\n";

std::string Opening(double width, double height, const std::string& title) {
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"rr\" width=\"" + Number(width) + "\" height=\"" +
         Number(height) + "\" viewBox=\"0 0 " + Number(width) + " " + Number(height) + "\" role=\"img\" aria-label=\"" +
         XmlText(title) + "\">\n";
}

std::string Shifted(double x, double y, const std::string& content) {
  return "<g transform=\"translate(" + Number(x) + " " + Number(y) + ")\">\n" + content + "</g>\n";
}

}  // namespace

std::string ToSvg(const Drawing& drawing, const Layout& layout, const SvgOptions& options) {
  const double heading = TextWidth(drawing.title, kHeadingSize) * kWideFace;
  const double inner = std::max(layout.frame.width, options.legend ? std::max(kLeastWidth, heading) : 0);
  Writer writer(options);
  writer.Graph(drawing, layout);
  double y = kSvgMargin;
  std::string head;
  if (options.legend) {
    if (!drawing.title.empty()) {
      head += Text(kSvgMargin, y + 14, "rr-h", drawing.title) + "\n";
      y += kHeading;
    }
    const Legend legend(drawing, inner);
    head += Shifted(kSvgMargin, y, legend.text());
    y += legend.height();
  }
  const double width = inner + 2 * kSvgMargin;
  const double height = y + layout.frame.height + kSvgMargin;
  std::string svg = Opening(width, height, drawing.title);
  if (options.style) svg += "<style>" + FileStyle(CountTones(drawing)) + "</style>\n";
  svg += std::string(kGround) + head;
  svg += Shifted(kSvgMargin + (inner - layout.frame.width) / 2, y, writer.text());
  return svg + "</svg>\n";
}

std::string SideBySide(const std::vector<Drawing>& drawings, const SvgOptions& options) {
  SvgOptions plain = options;
  plain.id = "";
  std::array<size_t, kTones.size()> counts{};
  std::string content;
  std::string title;
  double x = kSvgMargin;
  double height = 0;
  for (const Drawing& drawing : drawings) {
    if (x > kSvgMargin) {
      content += Text(x - kBetween / 2, kSvgMargin + 15, "rr-t", "→") + "\n";
      title += " → ";
    }
    const Layout layout = LayOut(drawing);
    const double width = std::max(layout.frame.width, TextWidth(drawing.title, kTitleSize) * kWideFace);
    Writer writer(plain);
    writer.Graph(drawing, layout);
    content += Text(x + width / 2, kSvgMargin + 15, "rr-t", drawing.title) + "\n";
    content += Shifted(x + (width - layout.frame.width) / 2, kSvgMargin + kHeading, writer.text());
    title += drawing.title;
    x += width + kBetween;
    height = std::max(height, layout.frame.height);
    const auto more = CountTones(drawing);
    for (size_t i = 0; i < counts.size(); ++i) counts[i] += more[i];
  }
  std::string svg = Opening(x - kBetween + kSvgMargin, height + 2 * kSvgMargin + kHeading, title);
  if (options.style) svg += "<style>" + FileStyle(counts) + "</style>\n";
  return svg + std::string(kGround) + content + "</svg>\n";
}

}  // namespace rulerun
