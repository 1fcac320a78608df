#include "engine/ruleset/reading.h"

#include <filesystem>

#include "engine/base/codes.h"
#include "engine/base/text.h"

namespace rulerun {

bool ReadContext::CheckFact(const std::string& name, const Location& where) const {
  std::vector<std::string> known;
  for (const auto& [unused, platform] : rules.platforms) {
    if (platform.facts.count(name) > 0) return true;
    for (const auto& [fact, value] : platform.facts) known.push_back(fact);
  }
  errors.Add(Code::kUnknownGate, where, "no platform has the fact '" + name + "'" + DidYouMean(name, known));
  return false;
}

bool ReadContext::CheckOption(const std::string& name, const Location& where) const {
  if (rules.options.count(name) > 0) return true;
  std::vector<std::string> known;
  for (const auto& [option, unused] : rules.options) known.push_back(option);
  errors.Add(Code::kUnknownGate, where, "there is no option '" + name + "'" + DidYouMean(name, known));
  return false;
}

std::string ResolvePath(const Yaml& scalar) {
  const std::filesystem::path named(scalar.scalar);
  if (named.is_absolute() || scalar.where.file == nullptr) return named.lexically_normal().generic_string();
  return (std::filesystem::path(*scalar.where.file).parent_path() / named).lexically_normal().generic_string();
}

std::string TextOf(const Yaml& map, std::string_view key) {
  const Yaml* value = map.Get(key);
  return value == nullptr ? "" : value->scalar;
}

std::vector<std::string> NamesOf(const Yaml& map, std::string_view key) {
  const Yaml* value = map.Get(key);
  return value == nullptr ? std::vector<std::string>{} : value->AsNames().value_or(std::vector<std::string>{});
}

std::vector<Statement> ReadBlock(const Yaml& scalar, TextMode mode, Diagnostics& errors) {
  auto statements = ParseText(scalar.scalar, scalar.TextStart(), mode, scalar.block_indent);
  if (statements.ok()) return std::move(statements).value();
  errors.Add(statements.error());
  return {};
}

}  // namespace rulerun
