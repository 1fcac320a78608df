// Asks Graphviz's `dot` for a layout. It gets numbered boxes and their sizes, nothing else.
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "engine/base/text.h"
#include "engine/report/draw/layout/arrange.h"

namespace rulerun {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kPointsPerInch = 72;

std::string Number(double value) {
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::fixed, 4);
  return std::string(buffer, end.ptr);
}

std::string Describe(const std::vector<Size>& boxes, const std::vector<Link>& links) {
  std::string text = "digraph { rankdir=TB; nodesep=0.36; ranksep=0.6; node [shape=box fixedsize=true label=\"\"];\n";
  for (size_t i = 0; i < boxes.size(); ++i) {
    text += std::to_string(i) + " [width=" + Number(boxes[i].width / kPointsPerInch) +
            " height=" + Number(boxes[i].height / kPointsPerInch) + "];\n";
  }
  for (const Link& link : links) {
    text += std::to_string(link.from) + " -> " + std::to_string(link.to) + " [arrowhead=none];\n";
  }
  return text + "}\n";
}

class Descriptor {
 public:
  explicit Descriptor(int descriptor = -1) : descriptor_(descriptor) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { Close(); }

  int get() const { return descriptor_; }
  void Set(int descriptor) { descriptor_ = descriptor; }
  void Close() {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = -1;
  }

 private:
  int descriptor_;
};

struct Pipe {
  Descriptor read;
  Descriptor write;

  bool Open() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return false;
    read.Set(ends[0]);
    write.Set(ends[1]);
    return true;
  }
};

// Without a shell: the arguments are fixed, and PATH finds the program.
std::optional<pid_t> Start(const Pipe& input, const Pipe& output) {
  posix_spawn_file_actions_t actions;
  if (::posix_spawn_file_actions_init(&actions) != 0) return std::nullopt;
  ::posix_spawn_file_actions_adddup2(&actions, input.read.get(), STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, output.write.get(), STDOUT_FILENO);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::string program = "dot";
  std::string format = "-Tplain";
  std::array<char*, 3> arguments = {program.data(), format.data(), nullptr};
  pid_t child = -1;
  const int failed = ::posix_spawnp(&child, program.c_str(), &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return std::nullopt;
  return child;
}

int MillisecondsUntil(Clock::time_point end) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
  return left < 0 ? 0 : static_cast<int>(left);
}

// Writes `text` and reads until the other side closes; false where it fails or takes too long.
bool Talk(std::string_view text, Pipe& input, Pipe& output, Clock::time_point end, std::string& answer) {
  ::fcntl(input.write.get(), F_SETFL, O_NONBLOCK);
  while (true) {
    std::array<pollfd, 2> waiting = {
        {{output.read.get(), POLLIN, 0}, {text.empty() ? -1 : input.write.get(), POLLOUT, 0}}};
    const int ready = ::poll(waiting.data(), waiting.size(), MillisecondsUntil(end));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return false;
    if (waiting[1].revents != 0) {
      const ssize_t written = ::write(input.write.get(), text.data(), text.size());
      if (written < 0 && errno != EAGAIN && errno != EINTR) return false;
      if (written > 0) text.remove_prefix(static_cast<size_t>(written));
      if (text.empty()) input.write.Close();
    }
    if (waiting[0].revents == 0) continue;
    std::array<char, 65536> buffer;
    const ssize_t got = ::read(output.read.get(), buffer.data(), buffer.size());
    if (got < 0 && errno != EINTR) return false;
    if (got == 0) return text.empty();
    if (got > 0) answer.append(buffer.data(), static_cast<size_t>(got));
  }
}

std::optional<std::string> RunDot(std::string_view text, std::chrono::milliseconds limit) {
  Pipe input;
  Pipe output;
  if (!input.Open() || !output.Open()) return std::nullopt;
  const auto child = Start(input, output);
  if (!child) return std::nullopt;
  input.read.Close();
  output.write.Close();
  std::string answer;
  // A `dot` that dies early must not take us with it.
  sigset_t pipe_signal;
  sigset_t before;
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
  const bool told = Talk(text, input, output, Clock::now() + limit, answer);
  const timespec at_once{};
  while (::sigtimedwait(&pipe_signal, nullptr, &at_once) == SIGPIPE) {
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!told) ::kill(*child, SIGKILL);
  int status = 0;
  while (::waitpid(*child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!told || !WIFEXITED(status) || WEXITSTATUS(status) != 0) return std::nullopt;
  return answer;
}

std::optional<double> Parse(const std::string& word) {
  double value = 0;
  const auto parsed = std::from_chars(word.data(), word.data() + word.size(), value);
  if (parsed.ec != std::errc()) return std::nullopt;
  return value;
}

// Reads lines of the format "plain": "graph scale width height", "node name x y ...", "edge from to n x1 y1 ...".
class PlainReader {
 public:
  PlainReader(size_t boxes, const std::vector<Link>& links) : links_(links) {
    arrangement_.centres.resize(boxes);
    arrangement_.routes.resize(links.size());
    for (size_t i = links.size(); i-- > 0;) waiting_[{links[i].from, links[i].to}].push_back(i);
  }

  std::optional<Arrangement> Read(const std::string& answer) {
    for (const std::string& line : Split(answer, '\n')) {
      const std::vector<std::string> words = Split(line, ' ');
      const std::vector<double> numbers = NumbersOf(words);
      if (words[0] == "graph") good_ = good_ && ReadSize(numbers);
      if (words[0] == "node") good_ = good_ && ReadNode(numbers);
      if (words[0] == "edge") good_ = good_ && ReadEdge(numbers);
    }
    if (!good_ || nodes_ != arrangement_.centres.size() || edges_ != links_.size()) return std::nullopt;
    return std::move(arrangement_);
  }

 private:
  // Those behind the first word, as far as they are numbers.
  static std::vector<double> NumbersOf(const std::vector<std::string>& words) {
    std::vector<double> numbers;
    for (size_t i = 1; i < words.size(); ++i) {
      const auto number = Parse(words[i]);
      if (!number) break;
      numbers.push_back(*number);
    }
    return numbers;
  }

  bool ReadSize(const std::vector<double>& numbers) {
    if (numbers.size() < 3) return false;
    arrangement_.size = {numbers[1] * kPointsPerInch, numbers[2] * kPointsPerInch};
    return true;
  }

  Point PointOf(double x, double y) const {
    return {x * kPointsPerInch, arrangement_.size.height - y * kPointsPerInch};
  }

  bool ReadNode(const std::vector<double>& numbers) {
    if (numbers.size() < 3 || numbers[0] < 0 || numbers[0] >= static_cast<double>(arrangement_.centres.size())) {
      return false;
    }
    arrangement_.centres[static_cast<size_t>(numbers[0])] = PointOf(numbers[1], numbers[2]);
    ++nodes_;
    return true;
  }

  bool ReadEdge(const std::vector<double>& numbers) {
    if (numbers.size() < 3 || numbers[0] < 0 || numbers[1] < 0) return false;
    const auto found = waiting_.find({static_cast<size_t>(numbers[0]), static_cast<size_t>(numbers[1])});
    const auto points = static_cast<size_t>(numbers[2]);
    if (found == waiting_.end() || found->second.empty() || numbers.size() < 3 + 2 * points) return false;
    if (points % 3 != 1) return false;
    std::vector<Point>& route = arrangement_.routes[found->second.back()];
    found->second.pop_back();
    for (size_t i = 0; i < points; ++i) route.push_back(PointOf(numbers[3 + 2 * i], numbers[4 + 2 * i]));
    ++edges_;
    return true;
  }

  const std::vector<Link>& links_;
  Arrangement arrangement_;
  std::map<std::pair<size_t, size_t>, std::vector<size_t>> waiting_;
  size_t nodes_ = 0;
  size_t edges_ = 0;
  bool good_ = true;
};

}  // namespace

std::optional<Arrangement> ArrangeWithGraphviz(const std::vector<Size>& boxes, const std::vector<Link>& links,
                                               std::chrono::milliseconds limit) {
  const auto answer = RunDot(Describe(boxes, links), limit);
  if (!answer) return std::nullopt;
  return PlainReader(boxes.size(), links).Read(*answer);
}

}  // namespace rulerun
