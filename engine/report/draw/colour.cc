// Tones by what the rules did.
#include <algorithm>
#include <map>
#include <string>

#include "engine/base/text.h"
#include "engine/report/draw/graph_drawing.h"

namespace rulerun {
namespace {

using FatesByOrigin = std::map<std::string, std::vector<const NodeFate*>>;

FatesByOrigin ByOrigin(const Fates& fates) {
  FatesByOrigin by_origin;
  for (const NodeFate& fate : fates.nodes) by_origin[fate.node.name].push_back(&fate);
  return by_origin;
}

Tone ToneOf(const NodeFate& fate) {
  switch (fate.fate) {
    case Fate::kInt8:
      return Tone::kInt8;
    case Fate::kMoved:
    case Fate::kDqDropped:
      return Tone::kMoved;
    case Fate::kFloat:
      if (fate.reason.kind == Reason::Kind::kRefused) return Tone::kRefused;
      return fate.reason.kind == Reason::Kind::kUnsupported || fate.reason.kind == Reason::Kind::kNoRule
                 ? Tone::kUnsupported
                 : Tone::kFloat;
    case Fate::kFused:
      return Tone::kFloat;
    case Fate::kRemoved:
      return Tone::kGone;
    case Fate::kConversion:
      return Tone::kConversion;
    case Fate::kOther:
      return Tone::kOther;
  }
  return Tone::kOther;
}

void Tell(const NodeFate& fate, DrawnNode& node) {
  std::string text(Words(fate.fate));
  if (!fate.into.empty() && fate.into != node.op) text += ", as " + fate.into;
  node.details.emplace_back("what became of it", text);
  if (fate.fate == Fate::kFloat) node.details.emplace_back("why", fate.reason.Text());
  if (!fate.rule.empty()) node.details.emplace_back("rule", fate.rule);
  const std::string& place = fate.fate == Fate::kFloat ? fate.reason.place : fate.place;
  if (!place.empty()) node.details.emplace_back("place", place);
}

// Whether a final node goes by that name. Where it has none it is called "operator#position".
bool IsCalled(const DrawnNode& node, const std::string& name) {
  return node.name.empty() ? StartsWith(name, node.op.substr(node.op.rfind('.') + 1) + "#") : name == node.name;
}

// The fate of the original node that this final one is the heir of, or nullptr.
const NodeFate* HeirOf(const FatesByOrigin& by_origin, const DrawnNode& node) {
  for (const std::string& origin : node.origins) {
    const auto found = by_origin.find(origin);
    if (found == by_origin.end()) continue;
    for (const NodeFate* fate : found->second) {
      const bool merged = fate->fate == Fate::kFused || fate->fate == Fate::kRemoved;
      if (!merged && fate->into == node.op && IsCalled(node, fate->now)) return fate;
    }
  }
  return nullptr;
}

void ColourRewritten(const FatesByOrigin& by_origin, Drawing& drawing) {
  for (DrawnNode& node : drawing.nodes) {
    for (Drawing& body : node.bodies) ColourRewritten(by_origin, body);
    if (node.op.empty()) continue;
    if (const NodeFate* fate = HeirOf(by_origin, node)) {
      node.tone = ToneOf(*fate);
      node.details.emplace_back("was", fate->node.name + " (" + fate->node.op + ")");
      Tell(*fate, node);
    } else if (node.tone != Tone::kConversion) {
      node.tone = Tone::kInserted;
    }
    for (const std::string& origin : node.origins) node.details.emplace_back("stands for", origin);
  }
}

void ColourOriginal(const FatesByOrigin& by_origin, Drawing& drawing) {
  for (DrawnNode& node : drawing.nodes) {
    for (Drawing& body : node.bodies) ColourOriginal(by_origin, body);
    if (node.op.empty()) continue;
    const auto found = by_origin.find(node.origins.front());
    if (found == by_origin.end()) continue;
    const auto fate = std::find_if(found->second.begin(), found->second.end(),
                                   [&](const NodeFate* f) { return f->node.op == node.op; });
    if (fate == found->second.end()) continue;
    node.tone = ToneOf(**fate);
    Tell(**fate, node);
  }
}

}  // namespace

void ColourRewritten(const Fates& fates, Drawing& drawing) { ColourRewritten(ByOrigin(fates), drawing); }
void ColourOriginal(const Fates& fates, Drawing& drawing) { ColourOriginal(ByOrigin(fates), drawing); }

}  // namespace rulerun
