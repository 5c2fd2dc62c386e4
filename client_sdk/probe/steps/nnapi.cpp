#include "steps/nnapi.h"

#include "steps/nnapi_steps.h"

namespace nnfleet::steps {
namespace {

constexpr std::size_t kMostDevices = 16;  // of twelve kilobytes each, so that a report stays under its limit

int cpu_of(const std::vector<report::NnapiDevice>& devices) {
  for (std::size_t index = 0; index < devices.size(); ++index) {
    if (devices[index].type == "cpu") return static_cast<int>(index);
  }
  return -1;
}

// A driver that the reference graph killed, hung or could not be compiled for is better left alone.
bool runs(const report::NnapiDevice& device) {
  return !device.run || device.run->status == "ok" || device.run->status == "wrong-output";
}

}  // namespace

NnapiFacts ask_nnapi(Parent& parent, int api_level) {
  NnapiFacts facts;
  facts.nnapi = ask_devices(parent);
  if (!facts.nnapi) return facts;
  if (!facts.nnapi->runtime_feature_level && api_level <= 31) facts.nnapi->runtime_feature_level = api_level;
  auto& devices = facts.nnapi->devices;
  if (devices.size() > kMostDevices) devices.resize(kMostDevices);
  const int cpu = cpu_of(devices);
  RefusedModels refused;
  for (std::size_t index = 0; index < devices.size(); ++index) {
    const int at = static_cast<int>(index);
    ask_supports(parent, at, facts.nnapi->runtime_feature_level, devices[index], refused);
    ask_reference(parent, at, at == cpu ? -1 : cpu, devices[index], facts.memory_domains);
    if (cpu >= 0 && at != cpu && runs(devices[index])) ask_outputs(parent, at, cpu, devices[index]);
  }
  for (const std::string& operation : refused) parent.note("nnapi:model:" + operation, {true, false, 0, 1});
  return facts;
}

}  // namespace nnfleet::steps
