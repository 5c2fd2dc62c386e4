// Memory shared with the camera and the GPU without a copy.
#include "steps/buffers.h"

#include <cstdint>

#include "nnapi/library.h"
#include "readers/libraries.h"
#include "steps/child.h"

namespace nnfleet::steps {
namespace {

// AHardwareBuffer_Desc of the NDK.
struct BufferDescription {
  uint32_t width;
  uint32_t height;
  uint32_t layers;
  uint32_t format;
  uint64_t usage;
  uint32_t stride;
  uint32_t reserved0;
  uint64_t reserved1;
};

constexpr uint32_t kBlob = 0x21;
constexpr uint64_t kCpuReadsAndWrites = 0x33;  // OFTEN, both

using Allocate = int (*)(const BufferDescription*, AHardwareBuffer**);
using Release = void (*)(AHardwareBuffer*);

bool takes(const nnapi::Library& nnapi, const AHardwareBuffer* buffer) {
  ANeuralNetworksMemory* memory = nullptr;
  if (nnapi.memory_from_buffer(buffer, &memory) != nnapi::kNoError) return false;
  nnapi.memory_free(memory);
  return true;
}

}  // namespace

void buffers(const std::string& library_folder, const Arguments&) {
  void* const library = readers::open_library(library_folder, "libnativewindow.so").handle;
  const auto allocate = readers::symbol<Allocate>(library, "AHardwareBuffer_allocate");
  const nnapi::Library nnapi = nnapi::load_library(library_folder);
  const auto release = readers::symbol<Release>(library, "AHardwareBuffer_release");
  if (allocate == nullptr || release == nullptr || nnapi.memory_from_buffer == nullptr) return;
  const BufferDescription description{4096, 1, 1, kBlob, kCpuReadsAndWrites, 0, 0, 0};
  AHardwareBuffer* buffer = nullptr;
  if (allocate(&description, &buffer) != 0) return isolation::say("refused");
  isolation::say(takes(nnapi, buffer) ? "shared" : "refused");
  release(buffer);
}

std::optional<bool> ask_buffers(Parent& parent) {
  std::optional<bool> shared;
  const auto outcome = parent.ask("buffers", {}, [&](const Words& words) { shared = words[0] == "shared"; });
  parent.note("buffers", outcome);
  return shared;
}

}  // namespace nnfleet::steps
