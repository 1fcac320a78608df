// Rules in words: conditions and gates as sentences, in Markdown.
#ifndef RULERUN_ENGINE_REPORT_DOCS_SENTENCES_H_
#define RULERUN_ENGINE_REPORT_DOCS_SENTENCES_H_

#include <string>

#include "engine/ruleset/rule.h"
#include "engine/ruleset/ruleset.h"

namespace rulerun {

// A numbered list, one item a condition; what `any`, `not` and `if` group stands indented below them. "" for none.
std::string ConditionList(const Conditions& conditions);

// "the option `loop` is 1 and opset 13 or later"; "" for an empty one.
std::string GateSentence(const Gate& gate);

// `text` as code, whatever is in it; in tables too.
std::string Code(const std::string& text);
// Plain text of a rule file, with what Markdown would take for its own made harmless.
std::string Plain(const std::string& text);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_REPORT_DOCS_SENTENCES_H_
