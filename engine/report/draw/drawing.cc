#include "engine/report/draw/drawing.h"

namespace rulerun {
namespace {

struct ToneName {
  std::string_view name;
  std::string_view words;
};

ToneName NamesOf(Tone tone) {
  switch (tone) {
    case Tone::kInt8:
      return {"int8", "int8"};
    case Tone::kMoved:
      return {"moved", "moved as int8"};
    case Tone::kFloat:
      return {"float", "float"};
    case Tone::kRefused:
      return {"refused", "float: refused by a condition"};
    case Tone::kUnsupported:
      return {"unsupported", "float: no int8 form"};
    case Tone::kConversion:
      return {"conversion", "quantizes or dequantizes"};
    case Tone::kInserted:
      return {"inserted", "inserted"};
    case Tone::kGone:
      return {"gone", "gone after rewriting"};
    case Tone::kOther:
      return {"other", "no float numbers"};
    case Tone::kBoundary:
      return {"boundary", "input or output"};
    case Tone::kElsewhere:
      return {"elsewhere", "drawn elsewhere"};
  }
  return {"", ""};
}

void AddTones(const Drawing& drawing, std::array<size_t, kTones.size()>& counts) {
  for (const DrawnNode& node : drawing.nodes) {
    ++counts[static_cast<size_t>(node.tone)];
    for (const Drawing& body : node.bodies) AddTones(body, counts);
  }
}

}  // namespace

std::string_view Name(Tone tone) { return NamesOf(tone).name; }
std::string_view Words(Tone tone) { return NamesOf(tone).words; }

std::string_view Name(Carries carries) {
  switch (carries) {
    case Carries::kInt8:
      return "int8";
    case Carries::kFloat:
      return "float";
    case Carries::kOther:
      return "other";
  }
  return "";
}

size_t CountNodes(const Drawing& drawing) {
  size_t count = drawing.nodes.size();
  for (const DrawnNode& node : drawing.nodes) {
    for (const Drawing& body : node.bodies) count += CountNodes(body);
  }
  return count;
}

std::array<size_t, kTones.size()> CountTones(const Drawing& drawing) {
  std::array<size_t, kTones.size()> counts{};
  AddTones(drawing, counts);
  return counts;
}

}  // namespace rulerun
