// A risky step in a process of its own. What a driver does to that process is an outcome, not an accident.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace nnfleet::isolation {

// The descriptor a child speaks on: drivers print to stdout as they like.
inline constexpr int kChannel = 3;

struct Outcome {
  bool started = true;
  bool timed_out = false;  // it said nothing for too long, and was killed
  int signal = 0;          // that ended it, 0 where none did
  int exit_code = 0;

  bool well() const { return started && !timed_out && signal == 0 && exit_code == 0; }
};

// Runs `command` (path first) and calls `on_line` for every whole line it says, also of a child that dies later.
Outcome run(const std::vector<std::string>& command, int silence_limit_ms,
            const std::function<void(const std::string&)>& on_line);

// What a child says: one line, at once, so that nothing is lost when the next call into a driver kills it.
void say(const std::string& line);

}  // namespace nnfleet::isolation
