#include "engine/report/graph_data.h"

#include <array>
#include <nlohmann/json.hpp>

namespace rulerun {
namespace {

using nlohmann::ordered_json;

constexpr std::array kCarried = {Carries::kInt8, Carries::kFloat, Carries::kOther};

ordered_json BoxOf(const DrawnNode& node) {
  std::string subtitle = node.subtitle;
  size_t inside = 0;
  for (const Drawing& body : node.bodies) inside += CountNodes(body);
  if (inside > 0) subtitle += (subtitle.empty() ? "" : " · ") + std::to_string(inside) + " boxes inside";
  return {node.title, subtitle, node.name, static_cast<size_t>(node.tone), node.origins};
}

// The boxes of a graph and its edges, then those of the subgraphs in it, which have edges among themselves.
void Add(const Drawing& drawing, ordered_json& data) {
  const size_t first = data["boxes"].size();
  for (const DrawnNode& node : drawing.nodes) data["boxes"].push_back(BoxOf(node));
  for (const DrawnEdge& edge : drawing.edges) {
    data["edges"].push_back(first + edge.from);
    data["edges"].push_back(first + edge.to);
    data["edges"].push_back(static_cast<size_t>(edge.carries));
  }
  for (const DrawnNode& node : drawing.nodes) {
    for (const Drawing& body : node.bodies) Add(body, data);
  }
}

}  // namespace

std::string GraphData(const Drawing& drawing) {
  ordered_json data = {{"tones", ordered_json::array()},
                       {"carries", ordered_json::array()},
                       {"boxes", ordered_json::array()},
                       {"edges", ordered_json::array()}};
  for (const Tone tone : kTones) data["tones"].push_back({Name(tone), Words(tone)});
  for (const Carries carries : kCarried) data["carries"].push_back(Name(carries));
  Add(drawing, data);
  return data.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace rulerun
