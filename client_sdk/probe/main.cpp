// nnfleet-probe: prints this phone's report; with --step, does one risky step for a parent.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "nnapi/operations.h"
#include "nnfleet_probe.h"
#include "steps/child.h"

namespace {

constexpr const char* kUsage =
    "usage: nnfleet-probe [--work FOLDER] [--root FOLDER] [--libraries FOLDER] [--silence MS] [--executable FILE]\n"
    "       nnfleet-probe --questions    what drivers are asked: operation, operand type, feature level\n"
    "       nnfleet-probe --version\n";

int usage_error() {
  std::fputs(kUsage, stderr);
  return 2;
}

int print_questions() {
  for (const auto& question : nnfleet::nnapi::questions()) {
    const std::string type(nnfleet::nnapi::name_of(question.type));
    std::printf("%s %d %s %d\n", question.operation->name, question.code, type.c_str(), question.since_level);
  }
  return 0;
}

bool read_options(const std::vector<std::string>& words, nnfleet_probe_options& options) {
  if (words.size() % 2 != 0) return false;
  for (std::size_t at = 0; at < words.size(); at += 2) {
    const char* const value = words[at + 1].c_str();
    if (words[at] == "--work") options.work_folder = value;
    else if (words[at] == "--root") options.root = value;
    else if (words[at] == "--libraries") options.library_folder = value;
    else if (words[at] == "--executable") options.executable = value;
    else if (words[at] == "--silence") options.silence_limit_ms = std::atoi(value);
    else return false;
  }
  return true;
}

int print_report(const std::vector<std::string>& words) {
  nnfleet_probe_options options{NNFLEET_PROBE_ABI, "/proc/self/exe", nullptr, nullptr, nullptr, 0};
  if (!read_options(words, options)) return usage_error();
  nnfleet_probe_status status = NNFLEET_PROBE_OK;
  char* const report = nnfleet_probe_report(&options, &status);
  if (status == NNFLEET_PROBE_NOT_ANDROID) {
    std::fputs("nnfleet-probe: no manufacturer, model or API level: this is no Android phone. --root FOLDER reads a "
               "capture.\n", stderr);
  }
  if (report == nullptr) return static_cast<int>(status) + 2;
  std::fputs(report, stdout);  // not a byte more: its digest is its name
  nnfleet_probe_free(report);
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  const std::vector<std::string> words(arguments + 1, arguments + count);
  if (words.size() >= 3 && words[0] == "--step") {
    return nnfleet::steps::run_child(words[1], words[2], {words.begin() + 3, words.end()});
  }
  if (words.size() == 1 && words[0] == "--questions") return print_questions();
  if (words.size() == 1 && words[0] == "--version") return std::puts(nnfleet_probe_version()) < 0 ? 1 : 0;
  if (words.size() == 1 && words[0] == "--help") return std::fputs(kUsage, stdout) < 0 ? 1 : 0;
  return print_report(words);
}
