#include <csignal>

#include "check.h"
#include "isolation/child.h"

using nnfleet::isolation::Outcome;
using Lines = std::vector<std::string>;

namespace {

// What a shell, told to do this, said and came to.
Outcome shell(const std::string& script, Lines& lines, int silence_limit_ms = 5000) {
  return nnfleet::isolation::run({"/bin/sh", "-c", script}, silence_limit_ms,
                                 [&](const std::string& line) { lines.push_back(line); });
}

}  // namespace

TEST("a child is heard on its own channel, whatever it prints") {
  Lines lines;
  CHECK(shell("echo noise; echo noise >&2; echo one >&3; echo two >&3", lines).well());
  CHECK_EQUAL(lines, (Lines{"one", "two"}));
}

TEST("a child that is killed leaves its signal and what it said before") {
  Lines lines;
  const Outcome outcome = shell("echo before >&3; kill -ABRT $$; echo after >&3", lines);
  CHECK_EQUAL(outcome.signal, SIGABRT);
  CHECK(!outcome.timed_out);
  CHECK_EQUAL(lines, Lines{"before"});
}

TEST("a child that falls silent is killed and called hung") {
  Lines lines;
  const Outcome outcome = shell("echo before >&3; exec sleep 60", lines, 50);
  CHECK(outcome.timed_out);
  CHECK_EQUAL(outcome.signal, 0);
  CHECK_EQUAL(lines, Lines{"before"});
}

TEST("a child that closes its channel and does not end is hung too") {
  Lines lines;
  CHECK(shell("exec 3>&-; exec sleep 60", lines, 50).timed_out);
}

TEST("a child that talks on is not hung, however long it takes in all") {
  Lines lines;
  CHECK(shell("for i in 1 2 3 4 5 6 7 8 9; do sleep 0.2; echo $i >&3; done", lines, 1500).well());
  CHECK_EQUAL(lines.size(), 9U);
}

TEST("what is no program is no signal and not well") {
  const Outcome outcome = nnfleet::isolation::run({"/nowhere/at-all"}, 1000, [](const std::string&) {});
  CHECK(!outcome.well());
  CHECK_EQUAL(outcome.exit_code, 127);
}

TEST("a line without an end is not believed") {
  Lines lines;
  CHECK(shell("printf 'whole\\nhalf' >&3", lines).well());
  CHECK_EQUAL(lines, Lines{"whole"});
}
