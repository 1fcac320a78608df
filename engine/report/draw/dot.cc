#include "engine/report/draw/dot.h"

#include <vector>

#include "engine/report/draw/escape.h"
#include "engine/report/draw/measure.h"
#include "engine/report/draw/style.h"

namespace rulerun {
namespace {

class Writer {
 public:
  std::string Run(const Drawing& drawing) {
    text_ = "digraph " + DotString(drawing.title) + " {\n";
    text_ += "  graph [rankdir=TB, fontname=\"Helvetica\", compound=true];\n";
    text_ += "  node [shape=box, style=\"filled,rounded\", fontname=\"Helvetica\", fontsize=11];\n";
    text_ += "  edge [fontname=\"Helvetica\", fontsize=9];\n";
    Graph(drawing, "  ");
    return text_ + "}\n";
  }

 private:
  void Graph(const Drawing& drawing, const std::string& indent) {
    std::vector<std::string> names;
    for (const DrawnNode& node : drawing.nodes) names.push_back(Node(node, indent));
    auto labels = OutputLabels(drawing);
    for (const DrawnEdge& edge : drawing.edges) {
      // The type stands on the first edge from each output.
      std::string& label = labels[edge.from][static_cast<size_t>(edge.from_slot)];
      text_ += indent + names[edge.from] + " -> " + names[edge.to] + " [color=\"" +
               std::string(LightLine(edge.carries)) + "\"" + Style(edge.carries) +
               (label.empty() ? "" : ", label=" + DotString(label)) + "];\n";
      label.clear();
    }
  }

  static std::string Style(Carries carries) {
    if (carries == Carries::kInt8) return ", penwidth=2";
    return carries == Carries::kOther ? ", style=dashed" : "";
  }

  std::string Node(const DrawnNode& node, const std::string& indent) {
    std::string name = "n" + std::to_string(next_++);
    std::string label = node.title;
    if (!node.subtitle.empty()) label += "\n" + node.subtitle;
    for (const std::string& line : node.lines) label += "\n" + line;
    const Paint paint = LightPaint(node.tone);
    text_ += indent + name + " [label=" + DotString(label) + ", fillcolor=\"" + std::string(paint.fill) +
             "\", color=\"" + std::string(paint.line) + "\"" + (node.marked ? ", penwidth=3" : "") + "];\n";
    for (const Drawing& body : node.bodies) Body(body, name, indent);
    return name;
  }

  void Body(const Drawing& body, const std::string& owner, const std::string& indent) {
    const std::string cluster = "cluster" + std::to_string(clusters_++);
    const std::string first = "n" + std::to_string(next_);
    text_ += indent + "subgraph " + cluster + " {\n" + indent + "  label=" + DotString(body.title) +
             "; color=\"#c9d0d7\";\n";
    Graph(body, indent + "  ");
    text_ += indent + "}\n";
    if (body.nodes.empty()) return;
    text_ += indent + owner + " -> " + first + " [style=dotted, arrowhead=none, lhead=" + cluster + "];\n";
  }

  std::string text_;
  size_t next_ = 0;
  size_t clusters_ = 0;
};

}  // namespace

std::string ToDot(const Drawing& drawing) { return Writer().Run(drawing); }

}  // namespace rulerun
