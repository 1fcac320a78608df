#include "engine/report/docs/page.h"

#include <algorithm>
#include <filesystem>

#include "engine/base/text.h"
#include "engine/report/docs/example.h"
#include "engine/report/docs/places.h"
#include "engine/report/docs/sentences.h"
#include "engine/report/draw/escape.h"

namespace rulerun {
namespace {

struct GroupWords {
  Group group;
  std::string_view meaning;
};
constexpr GroupWords kGroups[] = {
    {Group::kReplace, "between a DQ and a Q, the operator becomes an int8 operator"},
    {Group::kDropQdq, "the operator stays, without DQ and Q, and works on int8 numbers"},
    {Group::kDropDq, "the operator stays, without DQ, and reads int8 numbers"},
    {Group::kPattern, "a pattern of nodes is replaced"},
};

std::string_view MeaningOf(Group group) {
  const auto* words =
      std::find_if(std::begin(kGroups), std::end(kGroups), [&](const GroupWords& w) { return w.group == group; });
  return words == std::end(kGroups) ? "" : words->meaning;
}

std::string Row(const std::string& what, const std::string& text) {
  return text.empty() ? "" : "| " + what + " | " + text + " |\n";
}

std::string Fenced(const std::string& text, const std::string& language) {
  std::string body = text;
  while (!body.empty() && body.back() == '\n') body.pop_back();
  const std::string fence = body.find("```") == std::string::npos ? "```" : "````";
  return fence + language + "\n" + body + "\n" + fence + "\n";
}

std::string Codes(const std::vector<std::string>& names) {
  std::vector<std::string> codes;
  for (const std::string& name : names) codes.push_back(Code(name));
  return Join(codes, ", ");
}

std::string Link(const std::string& text, const std::string& rule_set, const std::string& rule) {
  return "[" + text + "](../" + rule_set + "/" + PageName(rule) + ".md)";
}

// The file in which the rule is written, seen from the page.
std::string FileLink(const PageSubject& subject) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path file = fs::weakly_canonical(*subject.rule->where.file, error);
  const fs::path folder = fs::weakly_canonical(subject.documented->folder, error);
  const std::string text = EndsWith(file.string(), subject.file->path) ? subject.file->path : file.filename().string();
  return "[" + text + "](" + file.lexically_relative(folder).string() + ")";
}

// Where, when and for whom the pipeline applies it.
std::string PlaceText(const RuleSet& rules, const RulePlace& place, const Rule& rule) {
  std::string text = "from level " + Code(std::string(Name(place.level))) + " on";
  const auto& providers = rule.providers.empty() ? place.providers : rule.providers;
  const bool any = providers.empty() || std::find(providers.begin(), providers.end(), "any") != providers.end();
  text += any ? ", any execution provider" : ", execution provider " + Codes(providers);
  std::vector<std::string> conditions;
  for (const Gate* gate : place.gates_if) conditions.push_back("if " + GateSentence(*gate));
  if (!rule.gate_if.items.empty()) conditions.push_back("if " + GateSentence(rule.gate_if));
  for (const Gate* gate : place.gates_unless) conditions.push_back("unless " + GateSentence(*gate));
  if (!rule.gate_unless.items.empty()) conditions.push_back("unless " + GateSentence(rule.gate_unless));
  if (!conditions.empty()) text += ", " + Join(conditions, ", ");
  const std::vector<std::string> platforms = PlatformsOf(rules, place, rule);
  if (platforms.size() < rules.platforms.size()) text += "; on " + Codes(platforms);
  return text;
}

// Options and facts that the rule's types ask for.
std::string TypesText(const Rule& rule) {
  std::vector<std::string> rows;
  for (const TypeRow& row : rule.types) {
    std::vector<std::string> parts;
    for (const auto& [variable, set] : row.variables) {
      std::vector<std::string> names;
      for (const DataType type : set.types) names.emplace_back(Name(type));
      parts.push_back(Code(variable) + (set.except ? ": any but " : ": ") + Codes(names));
    }
    std::string text = Join(parts, ", ");
    if (!row.needs.empty()) text += " (only with " + Code(row.needs) + ")";
    rows.push_back(text);
  }
  return Join(rows, "; ");
}

// Files as code, addresses as links: "a.cc; https://...".
std::string SourceText(const std::string& source) {
  if (source.empty()) return "";
  std::vector<std::string> parts;
  for (std::string part : Split(source, ';')) {
    part.erase(0, part.find_first_not_of(' '));
    parts.push_back(StartsWith(part, "https://") ? "<" + part + ">" : Code(part));
  }
  return Join(parts, ", ");
}

std::string Facts(const PageSubject& subject) {
  const Rule& rule = *subject.rule;
  const RuleSet& rules = subject.rules();
  std::string text = "| | |\n|---|---|\n";
  text += Row("rule set", "[" + rules.id + "](README.md) " + rules.version + ": " + Plain(rules.describes));
  text += Row("group", Code(std::string(Name(rule.group))) + ": " + std::string(MeaningOf(rule.group)));
  text += Row("file", FileLink(subject));
  text += Row("stage", subject.file->stage.empty() ? "" : Code(subject.file->stage));
  for (const RulePlace& place : PlacesOf(rules, subject.file->path, rule)) {
    text += Row("applied", PlaceText(rules, place, rule));
  }
  text += Row("types", TypesText(rule));
  text += Row("source", SourceText(rule.source));
  text += Row("since", rule.since_ort.empty() ? "" : "ONNX Runtime " + Plain(rule.since_ort));
  if (const Rule* same = SameRule(subject.documented->base(), rule)) {
    const std::string& id = subject.documented->base()->id;
    text += Row("changes", Link("that of " + id, id, rule.name) + ": " + ChangesOf(*same, rule));
  }
  for (const auto& derived : subject.documented->derived) {
    const Rule* other = SameRule(derived.get(), rule);
    if (other == nullptr) {
      text += Row("left out by", "[" + derived->id + "](../" + derived->id + "/README.md)");
    } else if (!Alike(rule, *other)) {
      text += Row("overridden by", Link(derived->id, derived->id, rule.name) + ": " + ChangesOf(rule, *other));
    }
  }
  text += Row("overlaps", Codes(rule.overlaps));
  return text;
}

// The rule's own text blocks, under their keys.
std::string Texts(const Yaml& yaml, const std::vector<std::pair<std::string, std::string>>& keys) {
  std::string text;
  for (const auto& [key, words] : keys) {
    const Yaml* block = yaml.Get(key);
    if (block != nullptr && block->IsScalar()) text += "\n" + words + "\n\n" + Fenced(block->scalar, "");
  }
  return text;
}

const std::vector<std::pair<std::string, std::string>>& BeforeKeys() {
  static const auto& keys =
      *new std::vector<std::pair<std::string, std::string>>{{"unit", "Matches"}, {"match", "Matches"}};
  return keys;
}
const std::vector<std::pair<std::string, std::string>>& AfterKeys() {
  static const auto& keys = *new std::vector<std::pair<std::string, std::string>>{{"compute", "computes"},
                                                                                  {"becomes", "becomes"},
                                                                                  {"replace", "becomes"},
                                                                                  {"error", "is refused"},
                                                                                  {"refuse", "is let be"}};
  return keys;
}

std::string Flags(const Rule& rule) {
  std::string text;
  for (const auto& [flag, conditions] : rule.flags)
    text += "\nThe flag " + Code(flag) + ":\n\n" + ConditionList(conditions);
  return text;
}

std::string Cases(const Rule& rule) {
  if (rule.cases.empty()) return "";
  std::string text = "\n## Cases\n\nThe first whose conditions hold is taken.\n";
  const Yaml* list = rule.yaml.Get("cases");
  for (size_t i = 0; i < rule.cases.size(); ++i) {
    text += "\n### Case " + std::to_string(i + 1) + "\n\n";
    text += ConditionList(rule.cases[i].conditions);
    if (list == nullptr || i >= list->items.size()) continue;
    std::string blocks = Texts(list->items[i], BeforeKeys()) + Texts(list->items[i], AfterKeys());
    text += blocks.empty() && rule.cases[i].conditions.empty() ? "Otherwise, as the rule says.\n" : blocks;
  }
  return text;
}

std::string Faults(const Rule& rule) {
  if (rule.faults.empty()) return "";
  std::string text = "\n## Known faults\n\nONNX Runtime does this, and so does the rule.\n";
  for (const Fault& fault : rule.faults) {
    text += "\n**" + Plain(fault.id) + "**: " + Plain(fault.effect) +
            (fault.note.empty() ? "" : ", " + Plain(fault.note)) +
            (fault.when.empty() ? ".\n" : ", when\n\n" + ConditionList(fault.when));
  }
  return text;
}

// "platform: arm64, opset: 13": what a test is run for, "" for the usual.
std::string Given(const RuleTest& test) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : test.facts) parts.push_back(Join({name, value}, ": "));
  return Join(parts, ", ");
}

// What a near miss changes in the test that it is like, "" where it has a graph of its own.
std::string ChangeText(const Rule& rule, size_t index) {
  const Yaml* tests = rule.yaml.Get("tests");
  const Yaml* change = tests != nullptr && index < tests->items.size() ? tests->items[index].Get("change") : nullptr;
  if (change == nullptr) return "";
  std::vector<std::string> parts;
  for (const auto& [name, value] : change->entries) {
    const auto names = value.AsNames().value_or(std::vector<std::string>{});
    parts.push_back(name + " = " + (value.IsScalar() ? value.scalar : "[" + Join(names, ", ") + "]"));
  }
  return Join(parts, ", ");
}

std::string InHtml(const std::string& text) { return "<code>" + XmlText(text) + "</code>"; }

std::string KindText(const RuleTest& test) {
  switch (test.kind) {
    case RuleTest::Kind::kBecomes:
      return "fires here as well";
    case RuleTest::Kind::kRefused:
      return "near miss, refused by " + InHtml(test.refused);
    case RuleTest::Kind::kNoMatch:
      return "no match";
    case RuleTest::Kind::kError:
      return "ONNX Runtime refuses the model";
  }
  return "";
}

// Folded up, but for a line that says what it is about.
std::string Folded(const Rule& rule, size_t index) {
  const RuleTest& test = rule.tests[index];
  std::string summary = KindText(test);
  const std::string change = ChangeText(rule, index);
  const std::string given = Given(test);
  if (!change.empty()) summary += ": the test above, with " + InHtml(change);
  if (!given.empty()) summary += ", given " + InHtml(given);
  const std::string into = test.kind == RuleTest::Kind::kBecomes ? "\nbecomes\n\n" + Fenced(test.into, "") : "";
  return "\n<details><summary>" + summary + "</summary>\n\n" + Fenced(test.graph, "") + into + "\n</details>\n";
}

std::string Tests(const Rule& rule) {
  const RuleTest* firing = FiringTest(rule);
  std::string text;
  if (firing != nullptr) {
    text += "\n## Example\n\n";
    const std::string given = Given(*firing);
    if (!given.empty()) text += "Given " + Code(given) + ":\n\n";
    text += Fenced(firing->graph, "") + "\nbecomes\n\n" + Fenced(firing->into, "");
  }
  if (rule.tests.size() < (firing != nullptr ? 2U : 1U)) return text;
  text += "\n## Other tests\n";
  for (size_t i = 0; i < rule.tests.size(); ++i) {
    if (&rule.tests[i] != firing) text += Folded(rule, i);
  }
  return text;
}

// Operators of the lines, each once, in the order of their first appearance.
void AddOperators(const std::vector<Statement>& statements, std::vector<std::string>& operators) {
  for (const Statement& line : statements) {
    for (const Alternative& alternative : line.alternatives) {
      if (!alternative.call) continue;
      for (const std::string& op : alternative.call->ops) {
        if (std::find(operators.begin(), operators.end(), op) == operators.end()) operators.push_back(op);
      }
    }
  }
}

}  // namespace

std::string SummaryOf(const Rule& rule) {
  if (!rule.summary.empty()) return Plain(rule.summary);
  const Yaml* unit = rule.yaml.Get("unit");
  if (unit != nullptr) return Code(unit->scalar);
  std::vector<const Rewrite*> rewrites = {&rule.rewrite};
  for (const Case& one : rule.cases) rewrites.push_back(&one.rewrite);
  std::vector<std::string> built;
  for (const Rewrite* rewrite : rewrites) AddOperators(rewrite->statements, built);
  std::vector<std::string> matched;
  AddOperators(rule.match, matched);
  return Codes(matched) + " → " + (built.empty() ? "nothing" : Codes(built));
}

std::string WritePage(const PageSubject& subject, bool has_picture) {
  const Rule& rule = *subject.rule;
  std::string text = "<!-- Written by scripts/docs; edit the rule instead. -->\n# " + Plain(rule.name) + "\n\n";
  if (!rule.summary.empty()) text += Plain(rule.summary) + "\n\n";
  text += Facts(subject);
  if (has_picture) text += "\n![the firing test, before and after](" + PageName(rule.name) + ".svg)\n";
  text += Texts(rule.yaml, BeforeKeys()) + Texts(rule.yaml, AfterKeys());
  if (!rule.conditions.empty() || !rule.flags.empty()) {
    text += "\n## Conditions\n\n";
    if (!rule.conditions.empty())
      text += "All must hold; the first that does not is what reports quote.\n\n" + ConditionList(rule.conditions);
    text += Flags(rule);
  }
  return text + Cases(rule) + Tests(rule) + Faults(rule);
}

}  // namespace rulerun
