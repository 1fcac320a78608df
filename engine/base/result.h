// Errors are values: what went wrong, where, and what to do about it.
#ifndef RULERUN_ENGINE_BASE_RESULT_H_
#define RULERUN_ENGINE_BASE_RESULT_H_

#include <cassert>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace rulerun {

// Who has to act on an error; decides the exit code of the command line. The letter of the error's code says which.
enum class ErrorKind {
  kUsage,        // U: a wrong flag or argument: exit code 2
  kRules,        // R: a rule file that cannot be used: exit code 2
  kModel,        // M: a model that cannot be used: exit code 3
  kRefused,      // X: a model that ONNX Runtime itself refuses, at the asked level: exit code 3
  kUnsupported,  // K: valid, but no kernel of ours can run it: exit code 3
  kSystem,       // S: files, memory, disk: exit code 3
};

// What kind of error it is, to the line: "R0301". engine/base/codes.h has the table; whoever makes errors includes it.
enum class Code : uint16_t;

struct Error {
  Code code{};
  std::string message;           // what: one sentence, no full stop needed
  std::string place;             // where: "file:line:column", "file, node 'x'", or empty
  std::string remedy;            // what to do: one sentence, or empty
  std::vector<Error> more = {};  // of a rule file, which tells all its errors at once: the others

  ErrorKind kind() const;
};

// "place: message", a line with the remedy, and the same for each of `more`. The command line puts "error[CODE]: "
// in front.
std::string ToString(const Error& error);

// A value or an Error. Check ok() before value().
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : state_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  const T& value() const& {
    assert(ok());
    return *std::get_if<0>(&state_);
  }
  T& value() & {
    assert(ok());
    return *std::get_if<0>(&state_);
  }
  T&& value() && {
    assert(ok());
    return std::move(*std::get_if<0>(&state_));
  }
  const T& operator*() const& { return value(); }
  T& operator*() & { return value(); }
  const T* operator->() const { return &value(); }
  T* operator->() { return &value(); }

  const Error& error() const {
    assert(!ok());
    return *std::get_if<1>(&state_);
  }

 private:
  std::variant<T, Error> state_;
};

// Success or an Error.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Error& error() const {
    assert(!ok());
    return *error_;
  }

 private:
  std::optional<Error> error_;
};

}  // namespace rulerun

// Returns the error of a Status or Result to the caller.
#define RULERUN_CONCAT_INNER(a, b) a##b
#define RULERUN_CONCAT(a, b) RULERUN_CONCAT_INNER(a, b)
#define RULERUN_RETURN_IF_ERROR(expr)                                                      \
  do {                                                                                     \
    if (auto rulerun_status = (expr); !rulerun_status.ok()) return rulerun_status.error(); \
  } while (false)
// RULERUN_ASSIGN(auto x, F()): x = the value of F(), or return its error.
#define RULERUN_ASSIGN(lhs, expr) RULERUN_ASSIGN_INNER(RULERUN_CONCAT(rulerun_result_, __LINE__), lhs, expr)
#define RULERUN_ASSIGN_INNER(tmp, lhs, expr) \
  auto tmp = (expr);                         \
  if (!tmp.ok()) return tmp.error();         \
  lhs = std::move(tmp).value()

#endif  // RULERUN_ENGINE_BASE_RESULT_H_
