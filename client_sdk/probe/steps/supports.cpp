// What a driver says it takes, asked with one model for each operation and operand type.
#include <algorithm>
#include <cstdlib>

#include "nnapi/model.h"
#include "steps/child.h"
#include "steps/nnapi_steps.h"

namespace nnfleet::steps {
namespace {

constexpr int kMostDeaths = 3;
constexpr int kNewestLevel = 8;

// What neither the runtime nor the driver can know yet is not asked. A level that NNAPI does not define bounds nothing.
int level_to_ask(const std::optional<int64_t>& raw) {
  const int level = raw ? nnapi::level_of(*raw) : 0;
  return level == 0 ? kNewestLevel : level;
}

void say_answer(const nnapi::Library& library, const ANeuralNetworksDevice* device, std::size_t number) {
  const std::string place = std::to_string(number);
  isolation::say("asking\t" + place);
  try {
    const auto model = nnapi::one_operation(library, nnapi::questions()[number]);
    if (nnapi::supports(*model, device)) isolation::say("yes\t" + place);
  } catch (const nnapi::Model::Refused&) {
    isolation::say("refused\t" + place);
  }
}

struct Listener {
  report::NnapiDevice& device;
  RefusedModels& refused;
  std::size_t asking = 0;

  void hear(const Words& words) {
    const std::size_t number = words.size() > 1 ? std::strtoul(words[1].c_str(), nullptr, 10) : 0;
    if (number >= nnapi::questions().size()) return;
    const nnapi::Question& question = nnapi::questions()[number];
    if (words[0] == "asking") asking = number;
    if (words[0] == "refused") refused.insert(question.operation->name);
    if (words[0] == "yes") (*device.supports)[question.operation->name].emplace_back(nnapi::name_of(question.type));
  }
};

}  // namespace

void supports(const std::string& library_folder, const Arguments& arguments) {
  const nnapi::Library library = nnapi::load_library(library_folder);
  ANeuralNetworksDevice* device = nullptr;
  if (library.device(static_cast<uint32_t>(std::atoi(arguments[0].c_str())), &device) != nnapi::kNoError) return;
  const int level = std::atoi(arguments[1].c_str());
  const auto& questions = nnapi::questions();
  for (std::size_t number = std::strtoul(arguments[2].c_str(), nullptr, 10); number < questions.size(); ++number) {
    if (questions[number].since_level <= level) say_answer(library, device, number);
  }
}

void ask_supports(Parent& parent, int index, std::optional<int64_t> runtime_level, report::NnapiDevice& device,
                  RefusedModels& refused) {
  const int level = std::min(level_to_ask(runtime_level), level_to_ask(device.feature_level));
  device.supports.emplace();
  Listener listener{device, refused};
  std::size_t next = 0;
  for (int deaths = 0; deaths < kMostDeaths; ++deaths) {
    const auto outcome = parent.ask("supports", {std::to_string(index), std::to_string(level), std::to_string(next)},
                                    [&](const Words& words) { listener.hear(words); });
    if (outcome.well()) return;
    const char* const operation = nnapi::questions()[listener.asking].operation->name;
    parent.note("nnapi:" + device.name + ":supports:" + operation, outcome);
    next = listener.asking + 1;
  }
}

}  // namespace nnfleet::steps
