#include "engine/base/codes.h"

#include <array>
#include <cstddef>

namespace rulerun {
namespace {

constexpr auto kCodes = std::to_array<CodeInfo>({
#define RULERUN_ROW(code, name, meaning, remedy) {Code::name, #code, meaning, remedy},
    RULERUN_CODES(RULERUN_ROW)
#undef RULERUN_ROW
});

}  // namespace

std::span<const CodeInfo> Codes() { return kCodes; }

const CodeInfo& Info(Code code) { return kCodes[static_cast<size_t>(code)]; }

std::string_view Name(Code code) { return Info(code).name; }

std::string Tag(std::string_view severity, Code code) {
  return std::string(severity) + "[" + std::string(Name(code)) + "]";
}

}  // namespace rulerun
