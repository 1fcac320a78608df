#include "engine/report/docs/sentences.h"

#include <algorithm>
#include <vector>

#include "engine/base/text.h"

namespace rulerun {
namespace {

constexpr std::string_view kArguments = "{args}";

std::string Inline(const Yaml& yaml) {
  if (yaml.IsScalar()) return yaml.scalar;
  std::vector<std::string> parts;
  for (const Yaml& item : yaml.items) parts.push_back(Inline(item));
  for (const auto& [key, value] : yaml.entries) parts.push_back(key + " " + Inline(value));
  return Join(parts, yaml.IsMap() ? ", " : " ");
}

// What is wanted of one argument: "`int8` or `uint8`".
std::string Wanted(const Yaml& yaml) {
  const auto names = yaml.AsNames();
  if (!names) {
    const Yaml* except = yaml.IsMap() && yaml.entries.size() == 1 ? yaml.Get("not") : nullptr;
    return except != nullptr ? "any but " + Wanted(*except) : Code(Inline(yaml));
  }
  std::vector<std::string> codes;
  for (const std::string& name : *names) codes.push_back(Code(name));
  return Join(codes, ", ");
}

struct Arguments {
  std::string names;
  std::string wanted;  // of all, or ""
};

std::string Tolerances(const Condition& condition) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : condition.pairs) {
    if (value.IsScalar()) parts.push_back(name + " " + Code(value.scalar));
  }
  return Join(parts, ", ");
}

Arguments ArgumentsOf(const Condition& condition) {
  std::vector<std::string> names;
  for (const std::string& value : condition.values) names.push_back(Code(value));
  for (const Yaml& item : condition.items) names.push_back(Code(Inline(item)));
  if (condition.predicate->args == ArgKind::kClose) return {Join(names, ", "), Tolerances(condition)};
  if (condition.pairs.empty()) return {Join(names, ", "), ""};
  const std::string first = Wanted(condition.pairs.front().second);
  const bool alike = std::all_of(condition.pairs.begin(), condition.pairs.end(),
                                 [&](const auto& pair) { return Wanted(pair.second) == first; });
  for (const auto& [name, value] : condition.pairs) {
    names.push_back(alike ? Code(name) : Code(name) + " (" + Wanted(value) + ")");
  }
  return {Join(names, ", "), alike ? first : ""};
}

// The phrases are written for refusals, which say what the value is instead.
std::string AsDemand(std::string phrase) {
  constexpr std::string_view kAnother = "another ";
  const size_t at = phrase.find(kAnother);
  if (at == std::string::npos) return phrase;
  return phrase.substr(0, at) + "one of these " + phrase.substr(at + kAnother.size()) + "s";
}

std::string Sentence(const Condition& condition) {
  std::string sentence = AsDemand(std::string(condition.predicate->phrase));
  const Arguments arguments = ArgumentsOf(condition);
  if (const size_t at = sentence.find(kArguments); at != std::string::npos) {
    sentence.replace(at, kArguments.size(), arguments.names);
  } else if (!arguments.names.empty()) {
    sentence += ": " + arguments.names;
  }
  if (!arguments.wanted.empty()) sentence += ": " + arguments.wanted;
  if (!condition.why.empty()) sentence += " (" + Plain(condition.why) + ")";
  return sentence;
}

class ListWriter {
 public:
  void All(const Conditions& conditions, const std::string& indent, bool numbered) {
    for (size_t i = 0; i < conditions.size(); ++i) {
      const std::string mark = numbered ? std::to_string(i + 1) + ". " : "- ";
      One(conditions[i], indent, mark);
    }
  }
  std::string text;

 private:
  void One(const Condition& condition, const std::string& indent, const std::string& mark) {
    const std::string inner = indent + std::string(mark.size(), ' ');
    const std::string check = " " + Code(std::string(condition.predicate->name));
    const std::string why = condition.why.empty() ? "" : " (" + Plain(condition.why) + ")";
    switch (condition.predicate->args) {
      case ArgKind::kConditionLists:
        text += indent + mark + "One of these holds" + why + ":" + check + "\n";
        for (const Conditions& group : condition.groups) Group(group, inner);
        break;
      case ArgKind::kConditions:
        text += indent + mark + (Count(condition) == 1 ? "This does not hold" : "These do not hold together") + why +
                ":" + check + "\n";
        for (const Conditions& group : condition.groups) All(group, inner, false);
        break;
      case ArgKind::kIfThen:
        text += indent + mark + "If this holds" + why + ":" + check + "\n";
        if (!condition.groups.empty()) All(condition.groups.front(), inner, false);
        text += "\n" + inner + "then this as well:\n\n";
        if (condition.groups.size() > 1) All(condition.groups[1], inner, false);
        break;
      default:
        text += indent + mark + Sentence(condition) + ";" + check + "\n";
    }
  }

  static size_t Count(const Condition& condition) {
    size_t count = 0;
    for (const Conditions& group : condition.groups) count += group.size();
    return count;
  }

  // Several conditions in one alternative hold together.
  void Group(const Conditions& group, const std::string& indent) {
    if (group.size() == 1) return One(group.front(), indent, "- ");
    text += indent + "- all of\n";
    All(group, indent + "  ", false);
  }
};

std::string GateItem(const Gate::Item& item) {
  const auto level = [](int64_t value) { return Code(std::string(Name(static_cast<Level>(value)))); };
  const auto range = [&](const std::string& what, const auto& text) {
    std::string said = what;
    if (item.min > 0) said += " " + text(item.min) + " or later";
    if (item.below != INT64_MAX) said += (item.min > 0 ? ", " : " ") + std::string("below ") + text(item.below);
    return said;
  };
  switch (item.kind) {
    case Gate::Kind::kOption:
    case Gate::Kind::kFact: {
      const std::string what = item.kind == Gate::Kind::kOption ? "option " : "platform fact ";
      return what + Code(item.name) + (item.equals ? " is " + std::to_string(*item.equals) : " is set");
    }
    case Gate::Kind::kOpset:
      return range("opset", [](int64_t value) { return std::to_string(value); });
    case Gate::Kind::kLevel:
      return range("level", level);
  }
  return "";
}

}  // namespace

std::string ConditionList(const Conditions& conditions) {
  ListWriter writer;
  writer.All(conditions, "", true);
  return writer.text;
}

std::string GateSentence(const Gate& gate) {
  std::vector<std::string> items;
  for (const Gate::Item& item : gate.items) items.push_back(GateItem(item));
  return Join(items, " and ");
}

std::string Code(const std::string& text) {
  if (text.empty()) return "";
  std::string escaped;
  for (const char c : text) {
    if (c == '|') escaped += '\\';
    escaped += c == '\n' ? ' ' : c;
  }
  const bool ticks = escaped.find('`') != std::string::npos;
  return ticks ? "`` " + escaped + " ``" : "`" + escaped + "`";
}

std::string Plain(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (std::string_view("|<>*_[]\\").find(c) != std::string_view::npos) escaped += '\\';
    escaped += c == '\n' ? ' ' : c;
  }
  return escaped;
}

}  // namespace rulerun
