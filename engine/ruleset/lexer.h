// Words and signs of the text blocks.
#ifndef RULERUN_ENGINE_RULESET_LEXER_H_
#define RULERUN_ENGINE_RULESET_LEXER_H_

#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/ruleset/location.h"

namespace rulerun {

struct Token {
  enum class Kind {
    kName,    // conv, x.scale, com.microsoft.QLinear${op}, _
    kInt,     // -1
    kFloat,   // 1e-05
    kString,  // "tanh"; `text` is what stands between the quotes, escapes resolved
    kSign,    // one of [ ] < > ( ) { } | = , ? ! * @ ... =>
    kEnd,
  };
  Kind kind = Kind::kEnd;
  std::string text;
  Location where;
  int line = 0;  // within the block, from 0
};

// Cuts a block into tokens; the last one is kEnd. Places are as described at ParseText.
Result<std::vector<Token>> Tokenize(std::string_view text, const Location& where, int indent);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_RULESET_LEXER_H_
