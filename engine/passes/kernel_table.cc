#include "engine/passes/kernel_table.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "engine/base/codes.h"
#include "engine/base/text.h"
#include "engine/graph/type_name.h"

namespace rulerun {
namespace {

constexpr size_t kFields = 5;  // domain, op, since, until, types

// The fields of a line; one in quotes may hold commas.
std::vector<std::string> Fields(std::string_view line) {
  std::vector<std::string> fields;
  while (true) {
    const bool quoted = !line.empty() && line.front() == '"';
    if (quoted) line.remove_prefix(1);
    const size_t end = std::min(line.find(quoted ? '"' : ','), line.size());
    fields.emplace_back(line.substr(0, end));
    const size_t comma = line.find(',', end);
    if (comma == std::string_view::npos) return fields;
    line.remove_prefix(comma + 1);
  }
}

// Whether all parts of `text` hold; `holds` gets one part after the other.
template <typename Holds>
bool AllParts(std::string_view text, char separator, const Holds& holds) {
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    if (end > 0 && !holds(text.substr(0, end))) return false;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return true;
}

// "T=float|double": its name, and whether it allows a type.
std::string_view NameOf(std::string_view constraint) { return constraint.substr(0, constraint.find('=')); }

bool Allows(std::string_view constraint, std::string_view type) {
  constraint.remove_prefix(std::min(constraint.find('=') + 1, constraint.size()));
  return !AllParts(constraint, '|', [&](std::string_view allowed) { return allowed != type; });
}

std::optional<int> Number(const std::string& text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// The table leaves closing brackets out.
std::string WithoutEnd(std::string name) {
  while (!name.empty() && name.back() == ')') name.pop_back();
  return name;
}

// The first operand that a type constraint speaks of: an input or output of that type variable, or of that name.
// ONNX Runtime looks at no other. kNoValue: all of them are omitted.
ValueId Constrained(const Node& node, const OpSchema& schema, std::string_view constraint) {
  const auto speaks_of = [&](const FormalParameter& formal) {
    return formal.type == constraint || formal.name == constraint;
  };
  for (size_t i = 0; i < schema.inputs.size(); ++i) {
    if (speaks_of(schema.inputs[i]) && node.input(i) != kNoValue) return node.input(i);
  }
  for (size_t i = 0; i < schema.outputs.size(); ++i) {
    if (speaks_of(schema.outputs[i]) && node.output(i) != kNoValue) return node.output(i);
  }
  return kNoValue;
}

std::string PathOf(const PassScope& scope, const std::string& named) {
  const std::filesystem::path path(named);
  std::error_code ignored;
  if (path.is_absolute() || std::filesystem::exists(path, ignored)) return named;
  return (std::filesystem::path(scope.rules->path).parent_path() / path).generic_string();
}

}  // namespace

const OpSchema* SchemaOf(const Graph& graph, const Node& node, const ExternalSchemas& schemas) {
  return FindSchema(schemas, node.domain, node.op_type, graph.Opset(node.domain));
}

Result<KernelTable> KernelTable::Read(const PassScope& scope) {
  KernelTable everything;
  everything.everything_ = true;
  if (scope.target == nullptr || scope.target->platform == nullptr) return everything;
  const auto named = scope.target->platform->texts.find("kernels");
  if (named == scope.target->platform->texts.end()) return everything;
  const std::string path = PathOf(scope, named->second);
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file.good() && text.empty()) {
    return Error{Code::kMissingFile,
                 "the kernel table of platform '" + scope.target->platform->name + "' cannot be read", path,
                 "Correct `kernels:` of the platform."};
  }
  return Parse(text, path);
}

Result<KernelTable> KernelTable::Parse(std::string_view text, const std::string& path) {
  KernelTable table;
  int number = 0;
  for (const std::string& line : Split(text, '\n')) {
    ++number;
    if (number == 1 || line.empty()) continue;  // the heading
    std::vector<std::string> fields = Fields(line.back() == '\r' ? line.substr(0, line.size() - 1) : line);
    const std::string domain = fields[0];
    std::string op = fields.size() > 1 ? fields[1] : "";
    auto row = ParseRow(std::move(fields));
    if (!row.ok()) {
      Error error = row.error();
      error.place = path + ":" + std::to_string(number);
      return error;
    }
    const bool onnx = domain.empty() || domain == "ai.onnx";
    if (!onnx) op.insert(0, domain + ".");
    table.rows_[op].push_back(std::move(row).value());
  }
  return table;
}

Result<KernelTable::Row> KernelTable::ParseRow(std::vector<std::string> fields) {
  const auto bad = [] {
    return Error{Code::kBadTable, "a line of a kernel table is: domain,op,since,until,types", "",
                 "types: T=float|double;T1=int64, or nothing."};
  };
  if (fields.size() != kFields) return bad();
  const auto since = Number(fields[2]);
  const auto until = Number(fields[3]);
  if (!since || (!until && !fields[3].empty())) return bad();
  const auto has_name = [](std::string_view constraint) { return constraint.find('=') != std::string_view::npos; };
  if (!AllParts(fields[4], ';', has_name)) return bad();
  return Row{*since, until, std::move(fields[4])};
}

bool KernelTable::Covers(const Row& row, int version) {
  if (row.since == version) return true;
  return row.until && row.since <= version && version <= *row.until;
}

bool KernelTable::Fits(const Row& row, const Graph& graph, const Node& node, const OpSchema* schema) const {
  if (schema == nullptr) return true;
  return AllParts(row.types, ';', [&](std::string_view constraint) {
    const ValueId operand = Constrained(node, *schema, NameOf(constraint));
    const std::string type = operand == kNoValue ? "" : WithoutEnd(TypeName(graph.TypeOf(operand)));
    return type.empty() || Allows(constraint, type);
  });
}

bool KernelTable::Has(const Graph& graph, const Node& node, const ExternalSchemas& schemas) const {
  if (everything_) return true;
  const auto found = rows_.find(node.Op());
  if (found == rows_.end()) return false;
  const OpSchema* schema = SchemaOf(graph, node, schemas);
  return std::any_of(found->second.begin(), found->second.end(),
                     [&](const Row& row) { return Covers(row, node.since_version) && Fits(row, graph, node, schema); });
}

bool KernelTable::HasFor(const Node& node, const Types& types) const {
  if (everything_) return true;
  const auto found = rows_.find(node.Op());
  if (found == rows_.end()) return false;
  return std::any_of(found->second.begin(), found->second.end(), [&](const Row& row) {
    if (!Covers(row, node.since_version)) return false;
    return std::all_of(types.begin(), types.end(), [&](const auto& wanted) {
      const std::string type = WithoutEnd(wanted.second);
      return !AllParts(row.types, ';', [&](std::string_view constraint) {
        return NameOf(constraint) != wanted.first || !Allows(constraint, type);
      });
    });
  });
}

}  // namespace rulerun
