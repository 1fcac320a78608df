#include <onnx/defs/parser.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <exception>
#include <fstream>
#include <iterator>
#include <set>
#include <stdexcept>

#include "engine/base/codes.h"
#include "engine/base/text.h"
#include "engine/graph/functions.h"
#include "engine/graph/graph_builder.h"
#include "engine/graph/load.h"
#include "engine/graph/model_text.h"
#include "engine/graph/proto.h"

namespace rulerun {
namespace {

// For graphs whose text does not say: new enough for every type, and what today's exporters write.
constexpr int64_t kIrVersion = 10;
constexpr int kOpset = 21;

// Deeper nesting than any graph has; ONNX's parser calls itself for each level.
constexpr int kDeepest = 200;

struct Position {
  size_t line = 1;
  size_t column = 1;
};

Position PositionAt(std::string_view text, size_t at) {
  const std::string_view before = text.substr(0, at);
  const size_t newline = before.rfind('\n');
  return {1 + static_cast<size_t>(std::count(before.begin(), before.end(), '\n')),
          newline == std::string_view::npos ? at + 1 : at - newline};
}

Error BadText(const std::string& message, const std::string& path, const Position& at) {
  const std::string line = std::to_string(at.line);
  const std::string column = std::to_string(at.column);
  return {Code::kBadModelText, message,
          path.empty() ? "line " + line + ", column " + column : path + ":" + line + ":" + column,
          "Write the graph as ONNX text: name (inputs) => (outputs) { nodes }."};
}

// The number behind `word` in `text`; 1 where there is none.
size_t NumberBehind(const std::string& text, std::string_view word) {
  size_t number = 1;
  const size_t at = text.find(word);
  if (at == std::string::npos) return number;
  std::from_chars(text.data() + at + word.size(), text.data() + text.size(), number);
  return number;
}

// What ONNX's parser says begins with "[ParseError at position (line: 1 column: 2)]" and a line that quotes the text.
Error ParseErrorFrom(const std::string& said, const std::string& path) {
  const size_t end = said.find_last_not_of('\n');
  const size_t last = end == std::string::npos ? end : said.rfind('\n', end);
  const std::string message = last == std::string::npos ? said : said.substr(last + 1, end - last);
  return BadText(message, path, {NumberBehind(said, "line: "), NumberBehind(said, "column: ")});
}

// Brackets outside of strings and comments are not nested too deep.
Status CheckNesting(std::string_view text, const std::string& path) {
  int depth = 0;
  bool quoted = false;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (quoted) {
      if (c == '\\') ++at;
      quoted = c != '"';
      continue;
    }
    if (c == '"') quoted = true;
    if (c == '#') at = std::min(text.find('\n', at), text.size()) - 1;
    if (c == '(' || c == '{') ++depth;
    if (c == ')' || c == '}') --depth;
    if (depth > kDeepest) return BadText("the text is nested too deep", path, PositionAt(text, at));
  }
  return {};
}

// Whether it begins with a model's header, behind comments.
bool IsModel(std::string_view text) {
  size_t first = text.find_first_not_of(" \t\r\n");
  while (first != std::string_view::npos && text[first] == '#') {
    first = text.find_first_not_of(" \t\r\n", text.find('\n', first));
  }
  return first != std::string_view::npos && text[first] == '<';
}

// The parser's own errors; its exceptions are numbers that fit nowhere.
Status Parse(onnx::OnnxParser& parser, bool whole, const std::string& path, onnx::ModelProto* model) {
  try {
    const auto status = whole ? parser.Parse(*model) : parser.Parse(*model->mutable_graph());
    if (!status.IsOK()) return ParseErrorFrom(status.ErrorMessage(), path);
  } catch (const std::logic_error&) {
    const std::string at = parser.GetCurrentPos();
    return BadText("a number that cannot be read, or does not fit", path,
                   {NumberBehind(at, "line: "), NumberBehind(at, "column: ")});
  }
  if (parser.EndOfInput()) return {};
  const std::string at = parser.GetCurrentPos();
  return BadText("there is more text behind the end of the graph", path,
                 {NumberBehind(at, "line: "), NumberBehind(at, "column: ")});
}

// Text names domains by using them.
void ImportUsedDomains(onnx::ModelProto* model) {
  std::set<std::string> used = {""};
  CollectDomains(model->graph(), &used);
  for (const auto& import : model->opset_import()) used.erase(std::string(NormalDomain(import.domain())));
  for (const std::string& domain : used) {
    if (StartsWith(domain, "ai.onnx")) continue;  // the newest version is taken for these
    auto* import = model->add_opset_import();
    import->set_domain(domain);
    import->set_version(domain.empty() ? kOpset : 1);
  }
}

}  // namespace

bool IsTextFile(std::string_view path) { return EndsWith(path, ".onnxtxt"); }

Result<std::string> ReadTextFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (file.good() || !text.empty()) return text;
  return Error{Code::kCannotRead, std::string("cannot read the model: ") + std::strerror(errno), path,
               "Check the path and the permissions."};
}

Result<onnx::ModelProto> ParseModelProto(std::string_view text, const OpsetMap& opsets, const std::string& path) {
  RULERUN_RETURN_IF_ERROR(CheckNesting(text, path));
  onnx::ModelProto model;
  onnx::OnnxParser parser(text);
  const bool whole = IsModel(text);
  RULERUN_RETURN_IF_ERROR(Parse(parser, whole, path, &model));
  if (!whole) {
    model.set_ir_version(kIrVersion);
    for (const auto& [domain, version] : opsets) {
      auto* import = model.add_opset_import();
      import->set_domain(domain);
      import->set_version(version);
    }
  }
  ImportUsedDomains(&model);
  return model;
}

Result<Model> ParseModelText(std::string_view text, const OpsetMap& opsets, const ExternalSchemas& schemas,
                             const std::string& path) {
  try {
    RULERUN_ASSIGN(onnx::ModelProto model, ParseModelProto(text, opsets, path));
    return FinishText(std::move(model), schemas, path);
  } catch (const std::exception& error) {
    return Error{Code::kBadModelText, error.what(), path, "Check the text with onnx.parser."};
  }
}

}  // namespace rulerun
