#include "steps/parent.h"

#include <sstream>

#include "parsers/texts.h"

namespace nnfleet::steps {

Parent::Parent(Settings settings, std::vector<report::Failure>& failures)
    : settings_(std::move(settings)), failures_(failures) {}

isolation::Outcome Parent::ask(const std::string& step, const Words& arguments,
                               const std::function<void(const Words&)>& on_words) const {
  std::vector<std::string> command{settings_.executable, "--step", step, settings_.library_folder};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return isolation::run(command, settings_.silence_limit_ms, [&](const std::string& line) {
    Words words;
    std::istringstream stream(line);
    for (std::string word; std::getline(stream, word, '\t');) words.push_back(word);
    if (!words.empty()) on_words(words);
  });
}

void Parent::note(const std::string& step, const isolation::Outcome& outcome) {
  if (outcome.well()) return;
  report::Failure failure;
  failure.step = parsers::safe_text(step, parsers::kMostName).value_or("unnamed");
  if (outcome.signal != 0) failure.signal = outcome.signal;
  failure.timeout = outcome.timed_out;
  failures_.push_back(failure);
}

}  // namespace nnfleet::steps
