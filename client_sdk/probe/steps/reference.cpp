// The reference graph on a device: compiled cold and from the cache, run once, again, in a burst, and on the CPU.
#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "nnapi/compilation.h"
#include "nnapi/reference_graph.h"
#include "steps/child.h"
#include "steps/nnapi_steps.h"

namespace nnfleet::steps {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kRuns = 5;
constexpr int kSupportedSince = 4;  // level of the signed 8-bit type

int64_t us_since(Clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start).count();
}

void say_time(const char* name, int64_t microseconds) {
  isolation::say(std::string("time\t") + name + "\t" + std::to_string(microseconds));
}

// A phase is announced before it begins, and what NNAPI refuses is said under its name.
template <typename Work>
bool phase(const char* name, const Work& work) {
  isolation::say(std::string("phase\t") + name);
  try {
    work();
    return true;
  } catch (const nnapi::Model::Refused& refused) {
    isolation::say(std::string("error\t") + name + ":" + std::to_string(refused.result));
    return false;
  }
}

bool takes_all(const nnapi::Library& library, const nnapi::Model& model, const ANeuralNetworksDevice* device) {
  bool each[2] = {false, false};
  return library.supported_operations(model.get(), &device, 1, each) == nnapi::kNoError && each[0] && each[1];
}

struct Subject {
  std::unique_ptr<nnapi::Model> model;
  nnapi::OperandType type{};
};

// The first type whose graph the device takes whole.
Subject subject_for(const nnapi::Library& library, const ANeuralNetworksDevice* device, int level) {
  for (const nnapi::OperandType type : nnapi::kReferenceTypes) {
    if (type == nnapi::OperandType::TensorQuant8AsymmSigned && level != 0 && level < kSupportedSince) continue;
    try {
      auto model = nnapi::reference_model(library, type);
      if (takes_all(library, *model, device)) return {std::move(model), type};
    } catch (const nnapi::Model::Refused&) {
      continue;  // a type this runtime does not know yet
    }
  }
  return {};
}

class Trial {
 public:
  Trial(const nnapi::Compilation& compilation, nnapi::OperandType type)
      : compilation_(compilation), input_(nnapi::reference_input(type)), output_(nnapi::reference_output_bytes(type)) {}

  int64_t run_us(ANeuralNetworksBurst* burst = nullptr) {
    const auto start = Clock::now();
    compilation_.run(input_, output_, burst);
    return us_since(start);
  }

  int64_t median_us(ANeuralNetworksBurst* burst = nullptr) {
    std::vector<int64_t> times(kRuns);
    for (int64_t& time : times) time = run_us(burst);
    std::nth_element(times.begin(), times.begin() + kRuns / 2, times.end());
    return times[kRuns / 2];
  }

  const std::vector<uint8_t>& output() const { return output_; }

 private:
  const nnapi::Compilation& compilation_;
  std::vector<uint8_t> input_;
  std::vector<uint8_t> output_;
};

void say_burst(const nnapi::Library& library, const nnapi::Compilation& compilation, Trial& trial) {
  if (library.burst_create == nullptr) return;
  phase("burst", [&] {
    const nnapi::Burst burst(library, compilation);
    say_time("burst_ms", trial.median_us(burst.get()));
  });
}

void say_runs(const nnapi::Library& library, const nnapi::Compilation& compilation, nnapi::OperandType type) {
  Trial trial(compilation, type);
  const bool ran = phase("execute", [&] {
    say_time("first_execute_ms", trial.run_us());
    say_time("execute_ms", trial.median_us());
    isolation::say(nnapi::is_right(trial.output(), type) ? "right" : "wrong");
  });
  if (ran) say_burst(library, compilation, trial);
  phase("memory", [&] { isolation::say(nnapi::gives_memory(library, compilation) ? "domains" : "no-domains"); });
}

void say_cached(const Subject& subject, const ANeuralNetworksDevice* device, const std::string& cache_folder) {
  if (cache_folder.empty()) return;
  phase("cached", [&] {
    const auto start = Clock::now();
    const nnapi::Compilation again(*subject.model, device, cache_folder);
    say_time("cached_compile_ms", us_since(start));
  });
}

// The same graph forced onto the CPU: an accelerator that is no faster only pretends.
void say_cpu(const nnapi::Library& library, const Subject& subject, int cpu_index) {
  ANeuralNetworksDevice* cpu = nullptr;
  if (cpu_index < 0 || library.device(static_cast<uint32_t>(cpu_index), &cpu) != nnapi::kNoError) return;
  phase("cpu", [&] {
    const nnapi::Compilation compilation(*subject.model, cpu, "");
    say_time("cpu_execute_ms", Trial(compilation, subject.type).median_us());
  });
}

// What the child said, as a run with a status.
struct Listener {
  report::ReferenceRun run;
  std::string phase = "none";
  bool right = true;
  std::optional<bool> domains;

  void hear(const Words& words) {
    const std::string& fact = words[0];
    if (fact == "right" || fact == "wrong") right = fact == "right";
    if (fact == "domains" || fact == "no-domains") domains = fact == "domains";
    if (words.size() < 2) return;
    if (fact == "type") run.type = words[1];
    if (fact == "phase") phase = words[1];
    if (fact == "error" && !run.error) run.error = words[1];
    if (fact == "time" && words.size() > 2) run.times_ms[words[1]] = std::atof(words[2].c_str()) / 1000;
  }

  std::string status(const isolation::Outcome& outcome) const {
    if (outcome.timed_out) return "hung";
    if (!outcome.well()) return "crashed";
    if (!right) return "wrong-output";
    return run.times_ms.count("execute_ms") != 0 ? "ok" : "failed";
  }
};

}  // namespace

void reference(const std::string& library_folder, const Arguments& arguments) {
  const nnapi::Library library = nnapi::load_library(library_folder);
  ANeuralNetworksDevice* device = nullptr;
  if (library.device(static_cast<uint32_t>(std::atoi(arguments[0].c_str())), &device) != nnapi::kNoError) return;
  const Subject subject = subject_for(library, device, std::atoi(arguments[1].c_str()));
  if (subject.model == nullptr) return;
  isolation::say("type\t" + std::string(nnapi::name_of(subject.type)));
  const std::string& cache_folder = arguments[3];
  phase("compile", [&] {
    const auto start = Clock::now();
    const nnapi::Compilation compilation(*subject.model, device, cache_folder);
    say_time("compile_ms", us_since(start));
    say_cached(subject, device, cache_folder);
    say_runs(library, compilation, subject.type);
  });
  say_cpu(library, subject, std::atoi(arguments[2].c_str()));
}

void ask_reference(Parent& parent, int index, int cpu_index, report::NnapiDevice& device,
                   std::optional<bool>& memory_domains) {
  Listener listener;
  const int level = device.feature_level ? nnapi::level_of(*device.feature_level) : 0;
  const auto outcome = parent.ask(
      "reference",
      {std::to_string(index), std::to_string(level), std::to_string(cpu_index), parent.settings().work_folder},
      [&](const Words& words) { listener.hear(words); });
  parent.note("nnapi:" + device.name + ":" + listener.phase, outcome);
  const bool accelerates = device.type != "cpu";
  if (accelerates && listener.domains) memory_domains = memory_domains.value_or(false) || *listener.domains;
  if (!listener.run.type && outcome.well()) return;  // it takes no reference graph, which is no failure
  listener.run.status = listener.status(outcome);
  device.run = listener.run;
}

}  // namespace nnfleet::steps
