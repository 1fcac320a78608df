// Folds a tall drawing into columns.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <tuple>

#include "engine/report/draw/layout.h"
#include "engine/report/draw/measure.h"

namespace rulerun {
namespace {

constexpr double kLayer = 48;    // between layers, about
constexpr double kBox = 26;      // between boxes beside each other
constexpr double kTall = 3600;   // what is lower stays in one column
constexpr double kAspect = 1.5;  // of the folded picture: its width in heights
constexpr double kSlack = 0.35;  // how far from the even height a column may end, to cut fewer edges
constexpr double kLeastColumn =
    0.3;  // a last column shorter than this share of the even height stays with the one before
constexpr double kTypicalLayer = 0.95;  // this share of the layers is not wider than a column is thought to be
constexpr double kGap = 100;            // between columns
constexpr size_t kLongest = 32;         // characters of a reference

struct Extent {
  double height = 0;
  double width = 0;
};

std::vector<int> LayersOf(const Drawing& drawing) {
  std::vector<Link> links;
  for (const DrawnEdge& edge : drawing.edges) links.push_back({edge.from, edge.to, edge.from_slot});
  return FindLayers(drawing.nodes.size(), links);
}

std::vector<Extent> ExtentsOf(const Drawing& drawing, const std::vector<int>& layers);

// Of a box with its subgraphs, about.
Extent ExtentOf(const DrawnNode& node) {
  const Size text = TextBox(node);
  Extent extent{text.height, text.width};
  double bodies = 0;
  double width = 0;
  for (const Drawing& body : node.bodies) {
    double height = 0;
    double widest = 0;
    for (const Extent& layer : ExtentsOf(body, LayersOf(body))) {
      height += layer.height + kLayer;
      widest = std::max(widest, layer.width);
    }
    bodies = std::max(bodies, height);
    width += widest + kBox;
  }
  return {extent.height + bodies, std::max(extent.width, width)};
}

std::vector<Extent> ExtentsOf(const Drawing& drawing, const std::vector<int>& layers) {
  std::vector<Extent> extents;
  for (size_t i = 0; i < drawing.nodes.size(); ++i) {
    const auto layer = static_cast<size_t>(layers[i]);
    if (extents.size() <= layer) extents.resize(layer + 1);
    const Extent extent = ExtentOf(drawing.nodes[i]);
    extents[layer].height = std::max(extents[layer].height, extent.height);
    extents[layer].width += extent.width + kBox;
  }
  return extents;
}

// How many values pass from above layer i to it or below.
std::vector<int> CountPassing(const Drawing& drawing, const std::vector<int>& layers, size_t count) {
  std::map<std::pair<size_t, int>, int> last;  // layer of each value's last reader
  for (const DrawnEdge& edge : drawing.edges) {
    int& reader = last[{edge.from, edge.from_slot}];
    reader = std::max(reader, layers[edge.to]);
  }
  std::vector<int> change(count + 1, 0);
  for (const auto& [value, reader] : last) {
    const auto first = static_cast<size_t>(layers[value.first]);
    ++change[first + 1];
    --change[static_cast<size_t>(reader) + 1];
  }
  std::vector<int> passing(count, 0);
  for (size_t i = 1; i < count; ++i) passing[i] = passing[i - 1] + change[i];
  return passing;
}

// The layers that begin a new column.
std::vector<int> FindBreaks(const std::vector<Extent>& extents, const std::vector<int>& passing) {
  double total = 0;
  std::vector<double> widths;
  for (const Extent& extent : extents) {
    total += extent.height + kLayer;
    widths.push_back(extent.width);
  }
  if (total < kTall) return {};
  const auto typical =
      widths.begin() + static_cast<std::ptrdiff_t>(kTypicalLayer * static_cast<double>(widths.size() - 1));
  std::nth_element(widths.begin(), typical, widths.end());
  const double columns = std::floor(std::sqrt(kAspect * total / (*typical + kGap)));
  if (columns < 2) return {};
  const double even = total / columns;
  std::vector<int> breaks;
  double height = 0;  // of the column so far
  size_t best = 0;    // layer to break at, 0 for none yet
  double best_height = 0;
  for (size_t i = 0; i < extents.size(); ++i) {
    const bool late_enough = height >= even * (1 - kSlack);
    const bool better = best == 0 || passing[i] < passing[best] ||
                        (passing[i] == passing[best] && std::abs(height - even) < std::abs(best_height - even));
    if (late_enough && better) {
      best = i;
      best_height = height;
    }
    if (best > 0 && height > even * (1 + kSlack)) {
      breaks.push_back(static_cast<int>(best));
      height -= best_height;
      best = 0;
    }
    height += extents[i].height + kLayer;
  }
  if (!breaks.empty() && height < even * kLeastColumn) breaks.pop_back();
  return breaks;
}

class Folder {
 public:
  explicit Folder(Drawing& drawing) : drawing_(drawing), edges_(drawing.edges.size()) {}

  void Run(const std::vector<int>& layers, const std::vector<int>& breaks) {
    for (size_t i = 0; i < drawing_.nodes.size(); ++i) {
      const auto column = std::upper_bound(breaks.begin(), breaks.end(), layers[i]) - breaks.begin();
      drawing_.nodes[i].column = static_cast<int>(column);
    }
    CountReaders();
    for (size_t i = 0; i < edges_; ++i) Cut(i);
  }

 private:
  // A value, and a column it is read in.
  using Crossing = std::tuple<size_t, int, int>;

  int Column(size_t node) const { return drawing_.nodes[node].column; }

  void CountReaders() {
    for (const DrawnEdge& edge : drawing_.edges) {
      if (Column(edge.from) != Column(edge.to))
        readers_[{edge.from, edge.from_slot, Column(edge.to)}].push_back(edge.to);
    }
  }

  void Cut(size_t index) {
    const DrawnEdge edge = drawing_.edges[index];
    if (Column(edge.from) == Column(edge.to)) return;
    const Crossing crossing{edge.from, edge.from_slot, Column(edge.to)};
    const auto [arrival, fresh] = arrivals_.emplace(crossing, 0);
    if (fresh) {
      const DrawnNode& source = drawing_.nodes[edge.from];
      const std::string title = "← " + source.title;
      arrival->second = AddReference(Column(edge.to), edge.value, title, source.op.empty() ? "" : source.subtitle);
      Leave(edge, crossing);
    }
    drawing_.edges[index].from = arrival->second;
    drawing_.edges[index].from_slot = 0;
  }

  // The end of the edge in its own column.
  void Leave(DrawnEdge edge, const Crossing& crossing) {
    const std::vector<size_t>& readers = readers_[crossing];
    const DrawnNode& reader = drawing_.nodes[readers.front()];
    const std::string title = readers.size() == 1 ? reader.title : std::to_string(readers.size()) + " readers";
    const std::string subtitle = readers.size() == 1 && !reader.op.empty() ? reader.subtitle : "";
    edge.to = AddReference(Column(edge.from), edge.value, title + " →", subtitle);
    edge.to_slot = 0;
    drawing_.edges.push_back(std::move(edge));
  }

  size_t AddReference(int column, const std::string& value, const std::string& title, const std::string& subtitle) {
    DrawnNode reference;
    reference.tone = Tone::kElsewhere;
    reference.column = column;
    reference.name = value;
    reference.title = Elide(title, kLongest);
    reference.subtitle = Elide(subtitle, kLongest);
    drawing_.nodes.push_back(std::move(reference));
    return drawing_.nodes.size() - 1;
  }

  Drawing& drawing_;
  size_t edges_;  // of the unfolded drawing
  std::map<Crossing, std::vector<size_t>> readers_;
  std::map<Crossing, size_t> arrivals_;
};

}  // namespace

void FoldIntoColumns(Drawing& drawing) {
  if (drawing.nodes.empty()) return;
  const std::vector<int> layers = LayersOf(drawing);
  const std::vector<Extent> extents = ExtentsOf(drawing, layers);
  const std::vector<int> breaks = FindBreaks(extents, CountPassing(drawing, layers, extents.size()));
  if (!breaks.empty()) Folder(drawing).Run(layers, breaks);
}

}  // namespace rulerun
