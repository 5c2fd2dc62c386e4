// Which devices NNAPI names: name, type, driver version, feature level.
#include <cstdlib>

#include "nnapi/library.h"
#include "parsers/texts.h"
#include "steps/child.h"
#include "steps/nnapi_steps.h"

namespace nnfleet::steps {
namespace {

std::string word_of_type(int32_t type) {
  switch (type) {
    case nnapi::kCpu: return "cpu";
    case nnapi::kGpu: return "gpu";
    case nnapi::kAccelerator: return "accelerator";
    case nnapi::kOther: return "other";
    default: return "unknown";
  }
}

std::string safe(const char* text, std::size_t most) {
  return text == nullptr ? "" : parsers::safe_text(text, most).value_or("");
}

void say_device(const nnapi::Library& library, uint32_t index) {
  ANeuralNetworksDevice* device = nullptr;
  if (library.device(index, &device) != nnapi::kNoError) return;
  const char* name = nullptr;
  const char* version = nullptr;
  int32_t type = 0;
  int64_t level = 0;
  library.device_name(device, &name);
  library.device_version(device, &version);
  library.device_type(device, &type);
  library.device_level(device, &level);
  isolation::say("device\t" + word_of_type(type) + "\t" + std::to_string(level) + "\t" +
                 safe(name, parsers::kMostName) + "\t" + safe(version, parsers::kMostText));
}

report::NnapiDevice device_of(const Words& words) {
  report::NnapiDevice device;
  device.type = words[1];
  device.feature_level = std::atoll(words[2].c_str());
  device.name = words.size() > 3 && !words[3].empty() ? words[3] : "unnamed";
  if (words.size() > 4 && !words[4].empty()) device.version = words[4];
  return device;
}

}  // namespace

void devices(const std::string& library_folder, const Arguments&) {
  const nnapi::Library library = nnapi::load_library(library_folder);
  if (!library.names_devices()) return;
  isolation::say("named");
  if (library.runtime_level != nullptr) isolation::say("runtime\t" + std::to_string(library.runtime_level()));
  uint32_t count = 0;
  library.device_count(&count);
  for (uint32_t index = 0; index < count; ++index) say_device(library, index);
}

std::optional<report::Nnapi> ask_devices(Parent& parent) {
  std::optional<report::Nnapi> nnapi;
  const auto outcome = parent.ask("devices", {}, [&](const Words& words) {
    if (words[0] == "named") nnapi.emplace();
    if (words[0] == "runtime" && words.size() > 1) nnapi->runtime_feature_level = std::atoll(words[1].c_str());
    if (words[0] == "device" && words.size() > 2) nnapi->devices.push_back(device_of(words));
  });
  parent.note("nnapi:devices", outcome);
  if (nnapi && nnapi->devices.empty() && !outcome.well()) return std::nullopt;
  return nnapi;
}

}  // namespace nnfleet::steps
