#include "engine/report/draw/layout.h"

#include <algorithm>
#include <chrono>
#include <optional>

#include "engine/base/codes.h"
#include "engine/report/draw/measure.h"

namespace rulerun {
namespace {

constexpr std::chrono::seconds kGraphvizLimit{20};
constexpr double kLabelPadding = 8;
constexpr double kColumnGap = 70;

using Arrange = std::optional<Arrangement> (*)(const std::vector<Size>& boxes, const std::vector<Link>& links);

class Placer {
 public:
  explicit Placer(Arrange arrange) : arrange_(arrange) {}

  // At the origin; std::nullopt where a graph could not be arranged.
  std::optional<Layout> Place(const Drawing& drawing) const {
    const auto labels = OutputLabels(drawing);
    Layout layout;
    layout.bodies.resize(drawing.nodes.size());
    std::vector<Size> sizes;
    for (size_t i = 0; i < drawing.nodes.size(); ++i) {
      for (const Drawing& body : drawing.nodes[i].bodies) {
        auto placed = Place(body);
        if (!placed) return std::nullopt;
        layout.bodies[i].push_back(std::move(*placed));
      }
      sizes.push_back(SizeOf(drawing.nodes[i], layout.bodies[i], labels[i]));
    }
    auto arrangement = ArrangeColumns(drawing, sizes);
    if (!arrangement) return std::nullopt;
    layout.frame = {0, 0, arrangement->size.width, arrangement->size.height};
    layout.routes = std::move(arrangement->routes);
    layout.labels.resize(drawing.nodes.size());
    for (size_t i = 0; i < sizes.size(); ++i) {
      const Point centre = arrangement->centres[i];
      const Box box = {centre.x - sizes[i].width / 2, centre.y - sizes[i].height / 2, sizes[i].width, sizes[i].height};
      const int slots = static_cast<int>(labels[i].size());
      for (int slot = 0; slot < slots; ++slot) {
        layout.labels[i].push_back({PortX(centre.x, box.width, slot, slots), box.y + box.height + kLabelLine});
      }
      layout.nodes.push_back(box);
      PlaceBodies(TextBox(drawing.nodes[i]).height, box, layout.bodies[i]);
    }
    return layout;
  }

 private:
  // Every column by itself, then side by side. Edges lead from a node to another of its column.
  std::optional<Arrangement> ArrangeColumns(const Drawing& drawing, const std::vector<Size>& sizes) const {
    int columns = 1;
    for (const DrawnNode& node : drawing.nodes) columns = std::max(columns, node.column + 1);
    std::vector<std::vector<size_t>> nodes(static_cast<size_t>(columns));
    std::vector<std::vector<size_t>> edges(nodes.size());
    std::vector<size_t> place(sizes.size());  // of a node within its column
    for (size_t i = 0; i < sizes.size(); ++i) {
      auto& column = nodes[static_cast<size_t>(drawing.nodes[i].column)];
      place[i] = column.size();
      column.push_back(i);
    }
    for (size_t i = 0; i < drawing.edges.size(); ++i) {
      edges[static_cast<size_t>(drawing.nodes[drawing.edges[i].from].column)].push_back(i);
    }
    Arrangement whole;
    whole.centres.resize(sizes.size());
    whole.routes.resize(drawing.edges.size());
    for (size_t column = 0; column < nodes.size(); ++column) {
      std::vector<Size> boxes;
      std::vector<Link> links;
      for (const size_t i : nodes[column]) boxes.push_back(sizes[i]);
      for (const size_t i : edges[column]) {
        const DrawnEdge& edge = drawing.edges[i];
        links.push_back({place[edge.from], place[edge.to], edge.from_slot});
      }
      auto part = arrange_(boxes, links);
      if (!part) return std::nullopt;
      const double x = column == 0 ? 0 : whole.size.width + kColumnGap;
      for (size_t i = 0; i < boxes.size(); ++i) {
        whole.centres[nodes[column][i]] = {part->centres[i].x + x, part->centres[i].y};
      }
      for (size_t i = 0; i < links.size(); ++i) {
        for (const Point& point : part->routes[i]) whole.routes[edges[column][i]].push_back({point.x + x, point.y});
      }
      whole.size = {x + part->size.width, std::max(whole.size.height, part->size.height)};
    }
    return whole;
  }

  static Size SizeOf(const DrawnNode& node, const std::vector<Layout>& bodies, const std::vector<std::string>& labels) {
    Size size = TextBox(node);
    double labels_width = 0;
    for (const std::string& label : labels) {
      labels_width = std::max(labels_width, TextWidth(label, kLabelSize) + kLabelPadding);
    }
    size.width = std::max(size.width, labels_width * static_cast<double>(labels.size()));
    if (bodies.empty()) return size;
    double width = kBodyGap;
    double height = 0;
    for (const Layout& body : bodies) {
      width += body.frame.width + 2 * kBodyGap + kBodyGap;
      height = std::max(height, body.frame.height);
    }
    return {std::max(size.width, width), size.height + kTextLine + height + 3 * kBodyGap};
  }

  // Side by side below the text; frames include a margin and a line for the title.
  static void PlaceBodies(double text_height, const Box& box, std::vector<Layout>& bodies) {
    double x = box.x + kBodyGap;
    for (Layout& body : bodies) {
      Move(x + kBodyGap, box.y + text_height + kTextLine + kBodyGap, body);
      body.frame = {x, box.y + text_height, body.frame.width + 2 * kBodyGap,
                    body.frame.height + kTextLine + 2 * kBodyGap};
      x += body.frame.width + kBodyGap;
    }
  }

  static void Move(double x, double y, Layout& layout) {
    const auto move_box = [&](Box& box) {
      box.x += x;
      box.y += y;
    };
    const auto move_points = [&](std::vector<std::vector<Point>>& lists) {
      for (auto& points : lists) {
        for (Point& point : points) point = {point.x + x, point.y + y};
      }
    };
    move_box(layout.frame);
    for (Box& box : layout.nodes) move_box(box);
    move_points(layout.routes);
    move_points(layout.labels);
    for (auto& bodies : layout.bodies) {
      for (Layout& body : bodies) Move(x, y, body);
    }
  }

  Arrange arrange_;
};

}  // namespace

Layout LayOut(const Drawing& drawing) {
  const auto own = [](const std::vector<Size>& boxes, const std::vector<Link>& links) {
    return std::optional(ArrangeLayered(boxes, links));
  };
  return Placer(own).Place(drawing).value_or(Layout{});
}

Result<Layout> LayOutWithGraphviz(const Drawing& drawing) {
  const auto graphviz = [](const std::vector<Size>& boxes, const std::vector<Link>& links) {
    return ArrangeWithGraphviz(boxes, links, kGraphvizLimit);
  };
  if (auto layout = Placer(graphviz).Place(drawing)) return std::move(*layout);
  return Error{Code::kNoProgram, "Graphviz's 'dot' is not in PATH, failed, or took too long", "",
               "Install Graphviz, draw a part with --focus, or leave the layout to rulerun."};
}

void CutFarEdges(Drawing& drawing, int most_layers) {
  std::vector<Link> links;
  for (const DrawnEdge& edge : drawing.edges) links.push_back({edge.from, edge.to, edge.from_slot});
  const std::vector<int> layers = FindLayers(drawing.nodes.size(), links);
  for (DrawnEdge& edge : drawing.edges) {
    if (layers[edge.to] - layers[edge.from] <= most_layers) continue;
    const DrawnNode& source = drawing.nodes[edge.from];
    DrawnNode reference;
    reference.tone = Tone::kElsewhere;
    reference.name = edge.value;
    reference.title = Elide(edge.value, 32);
    reference.subtitle = source.op.empty() ? "from above" : "from " + source.title + " above";
    edge.from = drawing.nodes.size();
    edge.from_slot = 0;
    drawing.nodes.push_back(std::move(reference));
  }
  for (DrawnNode& node : drawing.nodes) {
    for (Drawing& body : node.bodies) CutFarEdges(body, most_layers);
  }
}

}  // namespace rulerun
