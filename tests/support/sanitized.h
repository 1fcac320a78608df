// Whether the tests run under a sanitizer that reserves the address space: limits of memory then say nothing.
#ifndef RULERUN_TESTS_SUPPORT_SANITIZED_H_
#define RULERUN_TESTS_SUPPORT_SANITIZED_H_

namespace rulerun {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace rulerun

#endif  // RULERUN_TESTS_SUPPORT_SANITIZED_H_
