// What a driver computes, operation by operation, against NNAPI's own CPU.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <sstream>

#include "nnapi/golden.h"
#include "steps/child.h"
#include "steps/nnapi_steps.h"

namespace nnfleet::steps {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kMostDeaths = 3;
constexpr std::chrono::seconds kBudget{20};  // of one child: compiling hundreds of models is slow on some drivers

// Nothing is said of what the driver or the CPU does not run: whether it does is another question.
void say_outputs(const nnapi::Library& library, const nnapi::Question& question, const std::string& place,
                 const ANeuralNetworksDevice* device, const ANeuralNetworksDevice* cpu) {
  try {
    const auto model = nnapi::golden_model(library, question);
    const nnapi::Tensors reference = nnapi::golden_outputs(*model, question, cpu);
    const nnapi::Tensors outputs = nnapi::golden_outputs(*model, question, device);
    isolation::say((nnapi::agrees(question, outputs, reference) ? "right\t" : "wrong\t") + place);
  } catch (const nnapi::Model::Refused&) {
    return;
  }
}

struct Listener {
  report::Outputs& outputs;
  std::size_t asking = 0;

  void hear(const Words& words) {
    const std::size_t number = words.size() > 1 ? std::strtoul(words[1].c_str(), nullptr, 10) : 0;
    if (number >= nnapi::questions().size()) return;
    const nnapi::Question& question = nnapi::questions()[number];
    if (words[0] == "asking") asking = number;
    if (words[0] == "right" || words[0] == "wrong") ++outputs.checked;
    if (words[0] == "wrong") outputs.wrong[question.operation->name].emplace_back(nnapi::name_of(question.type));
  }
};

// Numbers of the questions that the driver answered with yes, from `next` on, with commas between them.
std::string asked_of(const report::NnapiDevice& device, std::size_t next) {
  std::string numbers;
  for (std::size_t number = next; number < nnapi::questions().size(); ++number) {
    const nnapi::Question& question = nnapi::questions()[number];
    const auto taken = device.supports->find(question.operation->name);
    if (taken == device.supports->end() || !nnapi::is_comparable(question)) continue;
    const auto& types = taken->second;
    if (std::find(types.begin(), types.end(), nnapi::name_of(question.type)) == types.end()) continue;
    numbers += (numbers.empty() ? "" : ",") + std::to_string(number);
  }
  return numbers;
}

}  // namespace

void outputs(const std::string& library_folder, const Arguments& arguments) {
  const nnapi::Library library = nnapi::load_library(library_folder);
  ANeuralNetworksDevice* device = nullptr;
  ANeuralNetworksDevice* cpu = nullptr;
  if (library.device(static_cast<uint32_t>(std::atoi(arguments[0].c_str())), &device) != nnapi::kNoError) return;
  if (library.device(static_cast<uint32_t>(std::atoi(arguments[1].c_str())), &cpu) != nnapi::kNoError) return;
  const auto start = Clock::now();
  std::istringstream numbers(arguments[2]);
  for (std::string number; std::getline(numbers, number, ',') && Clock::now() - start < kBudget;) {
    isolation::say("asking\t" + number);
    const std::size_t place = std::strtoul(number.c_str(), nullptr, 10);
    if (place < nnapi::questions().size()) say_outputs(library, nnapi::questions()[place], number, device, cpu);
  }
}

void ask_outputs(Parent& parent, int index, int cpu_index, report::NnapiDevice& device) {
  report::Outputs found;
  Listener listener{found};
  std::string numbers = asked_of(device, 0);
  for (int deaths = 0; deaths < kMostDeaths && !numbers.empty(); ++deaths) {
    const auto outcome = parent.ask("outputs", {std::to_string(index), std::to_string(cpu_index), numbers},
                                    [&](const Words& words) { listener.hear(words); });
    if (outcome.well()) break;
    const char* const operation = nnapi::questions()[listener.asking].operation->name;
    parent.note("nnapi:" + device.name + ":outputs:" + operation, outcome);
    numbers = asked_of(device, listener.asking + 1);
  }
  if (found.checked > 0) device.outputs = found;
}

}  // namespace nnfleet::steps
