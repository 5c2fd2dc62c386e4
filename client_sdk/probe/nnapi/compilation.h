// A model compiled for one device, and its runs. Frees what it made; anything NNAPI refuses throws Model::Refused.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "nnapi/model.h"

namespace nnfleet::nnapi {

class Compilation {
 public:
  // `cache_folder` empty: without NNAPI's compilation cache.
  Compilation(const Model& model, const ANeuralNetworksDevice* device, const std::string& cache_folder);
  ~Compilation();
  Compilation(const Compilation&) = delete;
  Compilation& operator=(const Compilation&) = delete;

  // One run; `burst` may be null. `output` has its right size already.
  void run(const std::vector<uint8_t>& input, std::vector<uint8_t>& output, ANeuralNetworksBurst* burst) const;

  // The same for a model of any number of inputs and outputs.
  void run(const std::vector<std::vector<uint8_t>>& inputs, std::vector<std::vector<uint8_t>>& outputs) const;

  ANeuralNetworksCompilation* get() const { return compilation_; }

 private:
  void prepare(const std::string& cache_folder);

  const Library& library_;
  ANeuralNetworksCompilation* compilation_ = nullptr;
};

// Runs in a row that keep the driver awake.
class Burst {
 public:
  explicit Burst(const Library& library, const Compilation& compilation);
  ~Burst();
  Burst(const Burst&) = delete;
  Burst& operator=(const Burst&) = delete;

  ANeuralNetworksBurst* get() const { return burst_; }

 private:
  const Library& library_;
  ANeuralNetworksBurst* burst_ = nullptr;
};

// Whether the driver gives out memory of its own for an input (memory domains, Android 11 and later).
bool gives_memory(const Library& library, const Compilation& compilation);

}  // namespace nnfleet::nnapi
