#include "isolation/child.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <cstdlib>

namespace nnfleet::isolation {
namespace {

constexpr std::size_t kLongestLine = 4096;

// Only what is safe between fork and exec of a process with many threads.
[[noreturn]] void become(char* const* command, int write_end) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  const int nowhere = open("/dev/null", O_RDWR);
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(nowhere, standard);
  if (write_end == kChannel) {
    fcntl(kChannel, F_SETFD, 0);
  } else {
    dup2(write_end, kChannel);
  }
  execv(command[0], command);
  _exit(127);
}

std::vector<char*> arguments(const std::vector<std::string>& command) {
  std::vector<char*> pointers;
  for (const std::string& word : command) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// Hands whole lines on; what a child never ended is dropped.
class Lines {
 public:
  explicit Lines(const std::function<void(const std::string&)>& on_line) : on_line_(on_line) {}

  void feed(const char* bytes, std::size_t count) {
    for (std::size_t at = 0; at < count; ++at) {
      if (bytes[at] == '\n') {
        on_line_(pending_);
        pending_.clear();
      } else if (pending_.size() < kLongestLine) {
        pending_ += bytes[at];
      }
    }
  }

 private:
  const std::function<void(const std::string&)>& on_line_;
  std::string pending_;
};

// True where the child fell silent for too long; false where it closed its end.
bool listen(int read_end, int silence_limit_ms, Lines& lines) {
  for (;;) {
    pollfd waiting{read_end, POLLIN, 0};
    const int ready = poll(&waiting, 1, silence_limit_ms);
    if (ready == 0) return true;
    if (ready < 0 && errno == EINTR) continue;
    char buffer[1024];
    const ssize_t count = read(read_end, buffer, sizeof buffer);
    if (count <= 0) return false;
    lines.feed(buffer, static_cast<std::size_t>(count));
  }
}

// A child may close its end and then hang in a destructor: it is given as long again, then killed.
bool reaped(pid_t child, int limit_ms, int& status) {
  constexpr int kStepMs = 2;
  for (int waited_ms = 0; waited_ms <= limit_ms; waited_ms += kStepMs) {
    if (waitpid(child, &status, WNOHANG) == child) return true;
    poll(nullptr, 0, kStepMs);
  }
  return false;
}

}  // namespace

Outcome run(const std::vector<std::string>& command, int silence_limit_ms,
            const std::function<void(const std::string&)>& on_line) {
  Outcome outcome;
  const std::vector<char*> pointers = arguments(command);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    outcome.started = false;
    return outcome;
  }
  const pid_t child = fork();
  if (child == 0) become(pointers.data(), ends[1]);
  close(ends[1]);
  if (child < 0) {
    close(ends[0]);
    outcome.started = false;
    return outcome;
  }
  Lines lines(on_line);
  int status = 0;
  outcome.timed_out = listen(ends[0], silence_limit_ms, lines) || !reaped(child, silence_limit_ms, status);
  if (outcome.timed_out) {
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
  }
  close(ends[0]);
  if (!outcome.timed_out && WIFSIGNALED(status)) outcome.signal = WTERMSIG(status);
  if (WIFEXITED(status)) outcome.exit_code = WEXITSTATUS(status);
  return outcome;
}

void say(const std::string& line) {
  const std::string whole = line + "\n";
  std::size_t written = 0;
  while (written < whole.size()) {
    const ssize_t count = write(kChannel, whole.data() + written, whole.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) _exit(1);  // the parent is gone
    written += static_cast<std::size_t>(count);
  }
}

}  // namespace nnfleet::isolation
