// nnfleet-probe: prints this phone's report; with --step, does one risky step for a parent.
#include <cstdio>
#include <cstdlib>
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

struct TextOption {
  const char* word;
  const char* nnfleet_probe_options::* text;
};

constexpr TextOption kTexts[] = {
    {"--work", &nnfleet_probe_options::work_folder},
    {"--root", &nnfleet_probe_options::root},
    {"--libraries", &nnfleet_probe_options::library_folder},
    {"--executable", &nnfleet_probe_options::executable},
};

bool read_option(const std::string& word, const char* value, nnfleet_probe_options& options) {
  for (const TextOption& known : kTexts) {
    if (word == known.word) {
      options.*known.text = value;
      return true;
    }
  }
  options.silence_limit_ms = std::atoi(value);
  return word == "--silence" && options.silence_limit_ms > 0;
}

bool read_options(const std::vector<std::string>& words, nnfleet_probe_options& options) {
  if (words.size() % 2 != 0) return false;
  for (std::size_t at = 0; at < words.size(); at += 2) {
    if (!read_option(words[at], words[at + 1].c_str(), options)) return false;
  }
  return true;
}

int print_report(const std::vector<std::string>& words) {
  nnfleet_probe_options options{NNFLEET_PROBE_ABI, "/proc/self/exe", nullptr, nullptr, nullptr, 0};
  if (!read_options(words, options)) return usage_error();
  nnfleet_probe_status status = NNFLEET_PROBE_OK;
  char* const report = nnfleet_probe_report(&options, &status);
  if (status == NNFLEET_PROBE_NOT_ANDROID) {
    std::fputs("nnfleet-probe: no manufacturer, model or API level: this is no Android phone\n", stderr);
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
