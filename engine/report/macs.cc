#include "engine/report/macs.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/codes.h"
#include "engine/ruleset/yaml.h"

namespace rulerun {

struct MacFormula::Term {
  enum class Kind { kSum, kProduct, kCount, kDim, kFrom };
  Kind kind = Kind::kCount;
  std::vector<Term> parts;  // kSum, kProduct
  std::string name;         // of an input or output
  int64_t index = 0;        // kDim, kFrom
  std::string attribute;    // kDim: where it is set and not 0, `index`; else `otherwise`
  int64_t otherwise = 0;
};

namespace {

using Term = MacFormula::Term;

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  std::optional<Term> Run() {
    auto term = Sum();
    return term && Peek() == '\0' ? term : std::nullopt;
  }

 private:
  char Peek() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool Take(char c) {
    if (Peek() != c) return false;
    ++at_;
    return true;
  }

  std::optional<Term> Sum() { return List(Term::Kind::kSum, '+', &Parser::Product); }
  std::optional<Term> Product() { return List(Term::Kind::kProduct, '*', &Parser::Factor); }

  std::optional<Term> List(Term::Kind kind, char between, std::optional<Term> (Parser::*part)()) {
    Term list;
    list.kind = kind;
    do {
      auto next = (this->*part)();
      if (!next) return std::nullopt;
      list.parts.push_back(std::move(*next));
    } while (Take(between));
    return list;
  }

  std::optional<Term> Factor() {
    if (Take('(')) {
      auto inner = Sum();
      return inner && Take(')') ? inner : std::nullopt;
    }
    Term term;
    term.name = Name();
    if (term.name.empty()) return std::nullopt;
    if (!Take('[')) return term;
    return Index(term) && Take(']') ? std::optional<Term>(std::move(term)) : std::nullopt;
  }

  bool Index(Term& term) {
    term.kind = Term::Kind::kDim;
    if (std::isalpha(static_cast<unsigned char>(Peek())) != 0) {
      term.attribute = Name();
      return Take('?') && Number(term.index) && Take(':') && Number(term.otherwise);
    }
    if (!Number(term.index)) return false;
    if (Take(':')) term.kind = Term::Kind::kFrom;
    return true;
  }

  std::string Name() {
    if (std::isalpha(static_cast<unsigned char>(Peek())) == 0) return "";
    const size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_')) {
      ++at_;
    }
    return std::string(text_.substr(begin, at_ - begin));
  }

  bool Number(int64_t& number) {
    Peek();
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), number);
    at_ = static_cast<size_t>(end - text_.data());
    return error == std::errc();
  }

  std::string_view text_;
  size_t at_ = 0;
};

class Counter {
 public:
  Counter(const Graph& graph, const Node& node, const OpSchema& schema) : graph_(graph), node_(node), schema_(schema) {}

  std::optional<int64_t> Count(const Term& term) const {
    switch (term.kind) {
      case Term::Kind::kSum:
        return Fold(term.parts, 0, [](int64_t a, int64_t b) { return a + b; });
      case Term::Kind::kProduct:
        return Fold(term.parts, 1, [](int64_t a, int64_t b) { return a * b; });
      case Term::Kind::kCount:
      case Term::Kind::kFrom:
      case Term::Kind::kDim:
        break;
    }
    const Shape* shape = ShapeOf(term.name);
    if (shape == nullptr) return std::nullopt;
    const auto rank = static_cast<int64_t>(shape->size());
    int64_t begin = term.index;
    if (!term.attribute.empty() && IntOr(node_.attributes, term.attribute, 0) == 0) begin = term.otherwise;
    if (begin < 0) begin += rank;
    const int64_t end = term.kind == Term::Kind::kDim ? begin + 1 : rank;
    if (begin < 0 || begin > rank || end > rank) return std::nullopt;
    int64_t product = 1;
    for (int64_t i = begin; i < end; ++i) {
      const Dim& dim = (*shape)[static_cast<size_t>(i)];
      if (!dim.known()) return std::nullopt;
      product *= dim.size;
    }
    return product;
  }

 private:
  template <typename Combine>
  std::optional<int64_t> Fold(const std::vector<Term>& parts, int64_t value, const Combine& combine) const {
    for (const Term& part : parts) {
      const auto count = Count(part);
      if (!count) return std::nullopt;
      value = combine(value, *count);
    }
    return value;
  }

  const Shape* ShapeOf(const std::string& name) const {
    ValueId id = Find(schema_.inputs, node_.inputs, name);
    if (id == kNoValue) id = Find(schema_.outputs, node_.outputs, name);
    if (id == kNoValue) return nullptr;
    const auto& shape = graph_.TypeOf(id).shape;
    return shape ? &*shape : nullptr;
  }

  static ValueId Find(const std::vector<FormalParameter>& formals, const std::vector<ValueId>& values,
                      const std::string& name) {
    const auto formal =
        std::find_if(formals.begin(), formals.end(), [&](const FormalParameter& one) { return one.name == name; });
    const auto slot = static_cast<size_t>(formal - formals.begin());
    return formal == formals.end() || slot >= values.size() ? kNoValue : values[slot];
  }

  const Graph& graph_;
  const Node& node_;
  const OpSchema& schema_;
};

}  // namespace

Result<MacFormula> MacFormula::Parse(const std::string& text, const std::string& place) {
  auto term = Parser(text).Run();
  if (!term) {
    return Error{Code::kBadValue, "'" + text + "' is no formula", place,
                 "Write it like 'Y * W[1:]', with the names of inputs and outputs in the operator's schema."};
  }
  return MacFormula(std::make_shared<const Term>(std::move(*term)));
}

Result<MacTable> ReadMacTable(const std::string& path) {
  RULERUN_ASSIGN(const Yaml yaml, ReadYaml(path));
  MacTable table;
  for (const auto& [op, formula] : yaml.entries) {
    RULERUN_ASSIGN(MacFormula parsed, MacFormula::Parse(formula.scalar, formula.where.ToString()));
    table.emplace(op, std::move(parsed));
  }
  return table;
}

std::optional<int64_t> MacsOf(const Graph& graph, const Node& node, const ExternalSchemas& schemas,
                              const MacTable& table) {
  const auto formula = table.find(node.Op());
  if (formula == table.end()) return 0;
  const OpSchema* schema = FindSchema(schemas, node.domain, node.op_type, std::max(graph.Opset(node.domain), 1));
  return schema == nullptr ? std::nullopt : Counter(graph, node, *schema).Count(formula->second.root());
}

}  // namespace rulerun
