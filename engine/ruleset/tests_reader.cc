// `tests:` of a rule.
#include <algorithm>
#include <cctype>

#include "engine/base/codes.h"
#include "engine/base/text.h"
#include "engine/ruleset/reading.h"

namespace rulerun {
namespace {

constexpr std::string_view kDefaultName = "fires";

bool IsWordChar(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '/'; }

size_t SkipSpaces(const std::string& text, size_t at) {
  while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at])) != 0) ++at;
  return at;
}

// An initializer in ONNX text: TYPE NAME = {VALUES}, TYPE beginning at `type`.
struct InitializerSpan {
  size_t type = 0;
  size_t name = 0;
  size_t values = 0;  // of '{'
  size_t end = 0;     // behind '}'
};

// The type in front of a name starts behind '<' or ',' outside of brackets.
size_t TypeStart(const std::string& text, size_t name) {
  int depth = 0;
  size_t at = name;
  while (at > 0) {
    const char c = text[at - 1];
    if (c == ']') ++depth;
    if (c == '[') --depth;
    if (depth == 0 && (c == '<' || c == ',')) break;
    --at;
  }
  return SkipSpaces(text, at);
}

std::optional<InitializerSpan> FindInitializer(const std::string& text, const std::string& name) {
  for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    const size_t behind = at + name.size();
    if ((at > 0 && IsWordChar(text[at - 1])) || (behind < text.size() && IsWordChar(text[behind]))) continue;
    const size_t equals = SkipSpaces(text, behind);
    if (equals >= text.size() || text[equals] != '=') continue;
    const size_t values = SkipSpaces(text, equals + 1);
    if (values >= text.size() || text[values] != '{') continue;
    const size_t end = text.find('}', values);
    if (end == std::string::npos) continue;
    return InitializerSpan{TypeStart(text, at), at, values, end + 1};
  }
  return std::nullopt;
}

// The value of an initializer as ONNX text: "{0.2}".
std::string Braced(const Yaml& value) {
  if (value.IsSequence()) return "{" + Join(value.AsNames().value_or(std::vector<std::string>{}), ", ") + "}";
  if (value.IsMap()) return "{" + Join(value.Keys(), ", ") + "}";  // {0.2}, as YAML reads it
  return StartsWith(value.scalar, "{") ? value.scalar : "{" + value.scalar + "}";
}

class TestReader {
 public:
  explicit TestReader(const ReadContext& context) : context_(context) {}

  std::vector<RuleTest> Read(const Yaml& list) {
    if (!list.IsSequence()) {
      context_.errors.Add(Code::kBadTest, list.where, "'tests' takes a list");
      return {};
    }
    for (const Yaml& item : list.items) {
      if (CheckMap(item, KeyTable::kTest, context_.errors)) ReadOne(item);
    }
    return std::move(tests_);
  }

 private:
  void ReadOne(const Yaml& item) {
    RuleTest test;
    test.where = item.where;
    test.name = TextOf(item, "name");
    const RuleTest* like = nullptr;
    if (const Yaml* name = item.Get("like")) {
      like = FindTest(name->scalar);
      if (like == nullptr) {
        context_.errors.Add(
            Code::kNoSuchRule, name->where,
            "no test above this one is called '" + name->scalar + "'" + DidYouMean(name->scalar, TestNames()));
        return;
      }
    }
    if (!ReadKind(item, like, test)) return;
    if (like != nullptr && test.facts.empty()) test.facts = like->facts;
    Change(item, test);
    Edit(item, test);
    if (const Yaml* given = item.Get("given")) ReadGiven(*given, test);
    if (test.name.empty() && test.kind == RuleTest::Kind::kBecomes && FindTest(kDefaultName) == nullptr) {
      test.name = kDefaultName;
    }
    tests_.push_back(std::move(test));
  }

  const RuleTest* FindTest(std::string_view name) const {
    const auto found =
        std::find_if(tests_.begin(), tests_.end(), [&](const RuleTest& test) { return test.name == name; });
    return found == tests_.end() ? nullptr : &*found;
  }
  std::vector<std::string> TestNames() const {
    std::vector<std::string> names;
    for (const RuleTest& test : tests_) {
      if (!test.name.empty()) names.push_back(test.name);
    }
    return names;
  }

  // Which of the four kinds, and its texts.
  bool ReadKind(const Yaml& item, const RuleTest* like, RuleTest& test) {
    struct KindKey {
      std::string_view key;
      RuleTest::Kind kind;
    };
    constexpr KindKey kKinds[] = {{"becomes", RuleTest::Kind::kBecomes},
                                  {"refused", RuleTest::Kind::kRefused},
                                  {"no-match", RuleTest::Kind::kNoMatch},
                                  {"error", RuleTest::Kind::kError}};
    const Yaml* value = nullptr;
    for (const KindKey& kind : kKinds) {
      const Yaml* here = item.Get(kind.key);
      if (here == nullptr) continue;
      if (value != nullptr) return Fail(here->where, "a test is one of becomes, refused, no-match, error");
      value = here;
      test.kind = kind.kind;
    }
    if (value == nullptr) return Fail(item.where, "a test is one of becomes, refused, no-match, error");
    const Yaml* graph = value;
    if (test.kind == RuleTest::Kind::kRefused) {
      test.refused = value->scalar;
      if (!CheckRefused(*value)) return false;
      graph = item.Get("graph");
    } else if (const Yaml* extra = item.Get("graph")) {
      return Fail(extra->where, "'graph' belongs to 'refused'");
    }
    if (graph != nullptr && graph->IsScalar()) {
      test.graph = graph->scalar;
    } else if (like != nullptr) {
      test.graph = like->graph;
    } else {
      return Fail(item.where, "the test has no graph");
    }
    return ReadInto(item, like, test);
  }

  bool ReadInto(const Yaml& item, const RuleTest* like, RuleTest& test) {
    const Yaml* into = item.Get("into");
    if (test.kind != RuleTest::Kind::kBecomes)
      return into == nullptr || Fail(into->where, "'into' belongs to 'becomes'");
    if (into != nullptr) {
      test.into = into->scalar;
    } else if (like != nullptr && like->kind == RuleTest::Kind::kBecomes) {
      test.into = like->into;
    } else {
      return Fail(item.where, "'becomes' needs 'into', the graph after the rule");
    }
    return true;
  }

  bool Fail(const Location& where, std::string message, Code code = Code::kBadTest) {
    context_.errors.Add(code, where, std::move(message));
    return false;
  }

  bool CheckRefused(const Yaml& refused) {
    if (FindPredicate(refused.scalar) != nullptr) return true;
    std::vector<std::string> names;
    for (const BuiltinInfo& check : BuiltinChecks()) {
      if (check.name == refused.scalar) return true;
      names.emplace_back(check.name);
    }
    for (const PredicateInfo& predicate : Predicates()) names.emplace_back(predicate.name);
    return Fail(refused.where,
                "'" + refused.scalar + "' is no predicate and no built-in check" + DidYouMean(refused.scalar, names),
                Code::kUnknownPredicate);
  }

  void Change(const Yaml& item, RuleTest& test) {
    const Yaml* change = item.Get("change");
    if (change == nullptr) return;
    for (size_t i = 0; i < change->entries.size(); ++i) {
      const auto& [name, value] = change->entries[i];
      if (!Apply(name, value, test.graph)) {
        Fail(change->key_places[i], "the graph has no initializer '" + name + "'");
        continue;
      }
      if (item.Get("into") == nullptr && !test.into.empty()) Apply(name, value, test.into);
    }
  }

  // Puts other text into the graph; into the graph after the rule, too, where the test writes none of its own.
  void Edit(const Yaml& item, RuleTest& test) {
    const Yaml* edit = item.Get("edit");
    if (edit == nullptr) return;
    for (size_t i = 0; i < edit->entries.size(); ++i) {
      const auto& [from, to] = edit->entries[i];
      if (!Replace(from, to.scalar, test.graph)) Fail(edit->key_places[i], "the graph has no text '" + from + "'");
      if (item.Get("into") == nullptr) Replace(from, to.scalar, test.into);
    }
  }

  static bool Replace(const std::string& from, const std::string& to, std::string& text) {
    size_t at = from.empty() ? std::string::npos : text.find(from);
    if (at == std::string::npos) return false;
    for (; at != std::string::npos; at = text.find(from, at + to.size())) text.replace(at, from.size(), to);
    return true;
  }

  // Writes a new value, and with "TYPE = {..}" a new type, into the text of a graph.
  static bool Apply(const std::string& name, const Yaml& value, std::string& graph) {
    const auto found = FindInitializer(graph, name);
    if (!found) return false;
    const size_t equals = value.IsScalar() ? value.scalar.find('=') : std::string::npos;
    if (equals == std::string::npos) {
      graph.replace(found->values, found->end - found->values, Braced(value));
      return true;
    }
    std::string type = value.scalar.substr(0, equals);
    type.erase(type.find_last_not_of(' ') + 1);
    const std::string values = value.scalar.substr(SkipSpaces(value.scalar, equals + 1));
    graph.replace(found->type, found->end - found->type, type + " " + name + " = " + values);
    return true;
  }

  void ReadGiven(const Yaml& given, RuleTest& test) {
    for (size_t i = 0; i < given.entries.size(); ++i) {
      const auto& [name, value] = given.entries[i];
      const Location& where = given.key_places[i];
      if (!value.IsScalar()) {
        Fail(where, "'" + name + "' takes a number, true, false or a name");
      } else if (name == "platform") {
        std::vector<std::string> platforms;
        for (const auto& [platform, unused] : context_.rules.platforms) platforms.push_back(platform);
        if (context_.rules.platforms.count(value.scalar) == 0) {
          Fail(value.where, "there is no platform '" + value.scalar + "'" + DidYouMean(value.scalar, platforms),
               Code::kUnknownGate);
        }
      } else if (name == "level") {
        if (!ParseLevel(value.scalar))
          Fail(value.where, "'" + value.scalar + "' is no optimization level", Code::kUnknownGate);
      } else if (name != "opset" && name != "ep" && context_.rules.options.count(name) == 0) {
        context_.CheckFact(name, where);
      }
      test.facts.emplace_back(name, value.scalar);
    }
  }

  const ReadContext& context_;
  std::vector<RuleTest> tests_;
};

}  // namespace

std::vector<RuleTest> ReadTests(const Yaml& list, const ReadContext& context) { return TestReader(context).Read(list); }

}  // namespace rulerun
