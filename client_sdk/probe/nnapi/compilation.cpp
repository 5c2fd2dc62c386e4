#include "nnapi/compilation.h"

namespace nnfleet::nnapi {
namespace {

void check(int result) {
  if (result != kNoError) throw Model::Refused{result};
}

// One run's handle.
class Execution {
 public:
  Execution(const Library& library, ANeuralNetworksCompilation* compilation) : library_(library) {
    check(library.execution_create(compilation, &execution_));
  }
  ~Execution() { library_.execution_free(execution_); }
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

  ANeuralNetworksExecution* get() const { return execution_; }

 private:
  const Library& library_;
  ANeuralNetworksExecution* execution_ = nullptr;
};

}  // namespace

Compilation::Compilation(const Model& model, const ANeuralNetworksDevice* device, const std::string& cache_folder)
    : library_(model.library()) {
  check(library_.compilation_create(model.get(), &device, 1, &compilation_));
  try {
    prepare(cache_folder);
  } catch (const Model::Refused&) {
    library_.compilation_free(compilation_);
    throw;
  }
}

void Compilation::prepare(const std::string& cache_folder) {
  static constexpr std::array<uint8_t, kCacheTokenBytes> kToken{'n', 'n', 'f', 'l', 'e', 'e', 't'};
  check(library_.compilation_prefer(compilation_, kPreferFastSingleAnswer));
  if (!cache_folder.empty()) check(library_.compilation_cache(compilation_, cache_folder.c_str(), kToken.data()));
  check(library_.compilation_finish(compilation_));
}

Compilation::~Compilation() { library_.compilation_free(compilation_); }

void Compilation::run(const std::vector<uint8_t>& input, std::vector<uint8_t>& output,
                      ANeuralNetworksBurst* burst) const {
  const Execution execution(library_, compilation_);
  check(library_.execution_input(execution.get(), 0, nullptr, input.data(), input.size()));
  check(library_.execution_output(execution.get(), 0, nullptr, output.data(), output.size()));
  check(burst == nullptr ? library_.execution_compute(execution.get())
                         : library_.burst_compute(execution.get(), burst));
}

void Compilation::run(const std::vector<std::vector<uint8_t>>& inputs,
                      std::vector<std::vector<uint8_t>>& outputs) const {
  const Execution execution(library_, compilation_);
  int32_t at = 0;
  for (const auto& input : inputs) {
    check(library_.execution_input(execution.get(), at++, nullptr, input.data(), input.size()));
  }
  at = 0;
  for (auto& output : outputs) {
    check(library_.execution_output(execution.get(), at++, nullptr, output.data(), output.size()));
  }
  check(library_.execution_compute(execution.get()));
}

Burst::Burst(const Library& library, const Compilation& compilation) : library_(library) {
  check(library_.burst_create(compilation.get(), &burst_));
}

Burst::~Burst() { library_.burst_free(burst_); }

bool gives_memory(const Library& library, const Compilation& compilation) {
  if (library.memory_desc_create == nullptr || library.memory_from_desc == nullptr) return false;
  ANeuralNetworksMemoryDesc* description = nullptr;
  if (library.memory_desc_create(&description) != kNoError) return false;
  ANeuralNetworksMemory* memory = nullptr;
  const bool given = library.memory_desc_input(description, compilation.get(), 0, 1.0F) == kNoError &&
                     library.memory_desc_finish(description) == kNoError &&
                     library.memory_from_desc(description, &memory) == kNoError;
  if (memory != nullptr) library.memory_free(memory);
  library.memory_desc_free(description);
  return given;
}

}  // namespace nnfleet::nnapi
