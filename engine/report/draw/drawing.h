// A graph to be drawn: what its boxes say, what their edges carry, and nothing about where they lie.
#ifndef RULERUN_ENGINE_REPORT_DRAW_DRAWING_H_
#define RULERUN_ENGINE_REPORT_DRAW_DRAWING_H_

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rulerun {

// What a box is coloured by.
enum class Tone {
  kInt8,         // does its work on int8 numbers
  kMoved,        // moves or compares int8 numbers: the operator itself, without Q and DQ
  kFloat,        // computes in float
  kRefused,      // in float, since a condition of a rule refused
  kUnsupported,  // in float, since no rule makes it int8
  kConversion,   // Q or DQ
  kInserted,     // made by a rewrite, stands for no operator of the original
  kGone,         // of the original, and nothing stands for it any more
  kOther,        // no float numbers and no int8 ones
  kBoundary,     // input or output of the graph
  kElsewhere,    // stands for something that is drawn elsewhere, or not at all
};
inline constexpr std::array kTones = {Tone::kInt8,        Tone::kMoved,      Tone::kFloat,    Tone::kRefused,
                                      Tone::kUnsupported, Tone::kConversion, Tone::kInserted, Tone::kGone,
                                      Tone::kOther,       Tone::kBoundary,   Tone::kElsewhere};
std::string_view Name(Tone tone);   // "int8", "moved", ...
std::string_view Words(Tone tone);  // as legends say it

// What numbers flow along an edge.
enum class Carries { kInt8, kFloat, kOther };
std::string_view Name(Carries carries);  // "int8", "float", "other"

struct Drawing;

struct DrawnNode {
  Tone tone = Tone::kOther;
  bool marked = false;             // what the picture is about
  int column = 0;                  // see FoldIntoColumns
  std::string op;                  // with its domain; "" for what is no operator
  std::string name;                // of the node, or of the value that a boundary stands for; may be ""
  std::string title;               // the first line of the box
  std::string subtitle;            // the second one, or ""
  std::vector<std::string> lines;  // more of them: constants, scales and zero points
  std::vector<std::pair<std::string, std::string>> details;  // heading -> text, for readers who ask
  std::vector<std::string> names;    // names by which it is found beside `name`: values, nodes folded into it
  std::vector<std::string> ops;      // operators of the nodes folded into it
  std::vector<std::string> origins;  // nodes of the original model that it stands for
  std::vector<Drawing> bodies;       // subgraphs that it runs
};

// One read of a value. An edge from an input of the graph, or to one of its outputs, is one like others.
struct DrawnEdge {
  size_t from = 0;  // indices into Drawing::nodes
  size_t to = 0;
  int from_slot = 0;
  int to_slot = 0;  // at or behind the node's inputs: a subgraph of it reads the value
  Carries carries = Carries::kOther;
  std::string value;  // its name
  std::string type;   // "uint8[1, N, 4]", "" where it is not known
};

// Edges go from earlier to later nodes of an acyclic graph, in whatever order the nodes are listed.
struct Drawing {
  std::string title;
  std::vector<DrawnNode> nodes;
  std::vector<DrawnEdge> edges;
};

// Boxes of the drawing and of the subgraphs in it.
size_t CountNodes(const Drawing& drawing);
// How many boxes have each tone, in the order of kTones; subgraphs count.
std::array<size_t, kTones.size()> CountTones(const Drawing& drawing);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_REPORT_DRAW_DRAWING_H_
