#include "engine/report/draw/html.h"

#include <nlohmann/json.hpp>

#include "engine/report/draw/escape.h"
#include "engine/report/draw/page/parts.h"
#include "engine/report/draw/style.h"
#include "engine/report/draw/svg.h"
#include "engine/report/page_text.h"

namespace rulerun {
namespace {

using nlohmann::ordered_json;

// Boxes in the order of the ids that ToSvg gives them.
void AddNodes(const Drawing& drawing, const Layout& layout, ordered_json& nodes) {
  for (size_t i = 0; i < drawing.nodes.size(); ++i) {
    const DrawnNode& node = drawing.nodes[i];
    const Box& box = layout.nodes[i];
    nodes.push_back({{"title", node.title},
                     {"subtitle", node.subtitle},
                     {"name", node.name},
                     {"names", node.names},
                     {"tone", Name(node.tone)},
                     {"details", node.details},
                     {"origins", node.origins},
                     {"box", {box.x + kSvgMargin, box.y + kSvgMargin, box.width, box.height}}});
    for (size_t body = 0; body < node.bodies.size(); ++body) {
      AddNodes(node.bodies[body], layout.bodies[i][body], nodes);
    }
  }
}

ordered_json AsJson(const View& view, const std::string& id) {
  ordered_json json = {{"id", id}, {"label", view.label}};
  json["nodes"] = ordered_json::array();
  AddNodes(view.drawing, view.layout, json["nodes"]);
  json["legend"] = ordered_json::array();
  const auto counts = CountTones(view.drawing);
  for (const Tone tone : kTones) {
    json["paints"][std::string(Name(tone))] = LightPaint(tone).line;
    const size_t count = counts[static_cast<size_t>(tone)];
    if (count > 0) json["legend"].push_back({Name(tone), Words(tone), count});
  }
  return json;
}

std::string IdOf(size_t view) { return "v" + std::to_string(view) + "-"; }

}  // namespace

std::string ToHtml(const std::string& title, const std::vector<View>& views, size_t first) {
  ordered_json data = {{"first", first}, {"views", ordered_json::array()}};
  std::string pictures;
  for (size_t i = 0; i < views.size(); ++i) {
    SvgOptions options;
    options.legend = false;
    options.style = false;
    options.tooltips = false;
    options.id = IdOf(i);
    pictures += ToSvg(views[i].drawing, views[i].layout, options);
    data["views"].push_back(AsJson(views[i], options.id));
  }
  const std::string json = data.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  return FillPage(page::kDrawPage, {{"title", XmlText(title)},
                                    {"style", page::kDrawStyle + PageStyle()},
                                    {"pictures", pictures},
                                    {"data", InScript(json)},
                                    {"script", page::kDrawScript}});
}

}  // namespace rulerun
