#include "engine/report/page_text.h"

namespace rulerun {

std::string FillPage(std::string_view page, const std::vector<std::pair<std::string_view, std::string>>& texts) {
  std::string filled;
  while (true) {
    const size_t open = page.find("{{");
    const size_t close = open == std::string_view::npos ? open : page.find("}}", open);
    if (close == std::string_view::npos) return filled + std::string(page);
    filled += page.substr(0, open);
    const std::string_view name = page.substr(open + 2, close - open - 2);
    for (const auto& [known, text] : texts) {
      if (known == name) filled += text;
    }
    page.remove_prefix(close + 2);
  }
}

std::string InScript(std::string_view json) {
  std::string safe;
  for (const char c : json) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return safe;
}

}  // namespace rulerun
