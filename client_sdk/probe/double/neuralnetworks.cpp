// A double of libneuralnetworks.so: devices from a script, answers from their words, outputs computed on this machine.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "nnapi/operations.h"
#include "nnapi/signature.h"
#include "nnapi_model.h"
#include "script.h"

using nnfleet::doubles::KeptModel;
using nnfleet::doubles::KeptOperand;
using nnfleet::doubles::KeptOperation;
using nnfleet::doubles::script;
using nnfleet::doubles::ScriptedDevice;
using nnfleet::nnapi::kBadData;
using nnfleet::nnapi::kNoError;
using nnfleet::nnapi::OperandType;

struct ANeuralNetworksDevice {
  const ScriptedDevice* scripted;
};

struct ANeuralNetworksModel : KeptModel {};

struct ANeuralNetworksCompilation {
  const KeptModel* model;
  const ScriptedDevice* device;
  std::string cached;  // path of the compiled file, empty where no cache is set
  std::vector<uint8_t> output;
};

struct ANeuralNetworksExecution {
  ANeuralNetworksCompilation* compilation;
  std::map<int32_t, std::vector<uint8_t>> inputs;
  std::map<int32_t, std::pair<uint8_t*, size_t>> outputs;
};

struct ANeuralNetworksBurst {};
struct ANeuralNetworksMemoryDesc {
  bool given;
};
struct ANeuralNetworksMemory {};

namespace {

std::vector<ANeuralNetworksDevice>& devices() {
  static std::vector<ANeuralNetworksDevice> all = [] {
    std::vector<ANeuralNetworksDevice> made;
    for (const ScriptedDevice& scripted : script().devices) made.push_back({&scripted});
    return made;
  }();
  return all;
}

// Types of tensors that say what arithmetic an operation is in; indices and masks do not.
std::vector<OperandType> arithmetic_of(const KeptModel& model, const KeptOperation& operation) {
  std::vector<OperandType> telling;
  std::vector<OperandType> others;
  for (const uint32_t index : operation.inputs) {
    const KeptOperand& operand = model.operands[index];
    if (operand.dimensions.empty()) continue;
    const bool mask = operand.type == OperandType::TensorInt32 || operand.type == OperandType::TensorBool8;
    (mask ? others : telling).push_back(operand.type);
  }
  return telling.empty() ? others : telling;
}

bool takes(const ScriptedDevice& device, const KeptModel& model, const KeptOperation& operation) {
  const std::string name = nnfleet::nnapi::operations().at(static_cast<std::size_t>(operation.code)).name;
  device.trouble.at("asked:" + name);
  const auto types = arithmetic_of(model, operation);
  return device.refuses.count(name) == 0 && std::all_of(types.begin(), types.end(), [&](OperandType type) {
           return device.takes.count(std::string(nnfleet::nnapi::name_of(type))) != 0;
         });
}

bool indices_exist(const KeptModel& model, const uint32_t* indices, uint32_t count) {
  return std::all_of(indices, indices + count, [&](uint32_t index) { return index < model.operands.size(); });
}

// The reference graph, whose right output is known.
int compute_graph(ANeuralNetworksExecution& execution) {
  ANeuralNetworksCompilation& compilation = *execution.compilation;
  const auto [buffer, bytes] = execution.outputs[0];
  if (compilation.output.empty()) {
    compilation.output = nnfleet::doubles::computed(*compilation.model, execution.inputs[0]);
  }
  if (compilation.output.size() != bytes) return kBadData;
  compilation.device->take_time("execute_ms");
  std::memcpy(buffer, compilation.output.data(), bytes);
  if (compilation.device->wrong) std::memset(buffer, 0x55, bytes);
  return kNoError;
}

int compute_operation(ANeuralNetworksExecution& execution) {
  const KeptModel& model = *execution.compilation->model;
  const ScriptedDevice& device = *execution.compilation->device;
  const auto code = static_cast<std::size_t>(model.operations[0].code);
  const std::string name = nnfleet::nnapi::operations().at(code).name;
  device.trouble.at("computed:" + name);
  if (execution.inputs.size() != model.inputs.size()) return kBadData;
  std::vector<uint8_t> all;
  for (const auto& [at, bytes] : execution.inputs) all.insert(all.end(), bytes.begin(), bytes.end());
  for (const auto& [at, output] : execution.outputs) {
    const auto& operand = model.operands[model.outputs.at(static_cast<std::size_t>(at))];
    const auto bytes = nnfleet::doubles::made_up(operand, all);
    if (bytes.size() != output.second) return kBadData;
    std::memcpy(output.first, bytes.data(), bytes.size());
    const int wrong = operand.type == OperandType::TensorBool8 ? 0 : 0x55;
    if (device.miscomputes.count(name) != 0) std::memset(output.first, wrong, bytes.size());
  }
  return kNoError;
}

int compute(ANeuralNetworksExecution* execution) {
  if (const int failed = execution->compilation->device->trouble.at("execute")) return failed;
  const bool graph = execution->compilation->model->operations.size() > 1;
  return graph ? compute_graph(*execution) : compute_operation(*execution);
}

}  // namespace

extern "C" {

int ANeuralNetworks_getDeviceCount(uint32_t* count) {
  script().trouble.at("devices");
  *count = static_cast<uint32_t>(devices().size());
  return kNoError;
}

int ANeuralNetworks_getDevice(uint32_t index, ANeuralNetworksDevice** device) {
  if (index >= devices().size()) return kBadData;
  *device = &devices()[index];
  return kNoError;
}

int64_t ANeuralNetworks_getRuntimeFeatureLevel() { return script().runtime; }

int ANeuralNetworksDevice_getName(const ANeuralNetworksDevice* device, const char** name) {
  *name = device->scripted->name.c_str();
  return kNoError;
}

int ANeuralNetworksDevice_getType(const ANeuralNetworksDevice* device, int32_t* type) {
  *type = device->scripted->type;
  return kNoError;
}

int ANeuralNetworksDevice_getVersion(const ANeuralNetworksDevice* device, const char** version) {
  *version = device->scripted->version.c_str();
  return kNoError;
}

int ANeuralNetworksDevice_getFeatureLevel(const ANeuralNetworksDevice* device, int64_t* level) {
  *level = device->scripted->level;
  return kNoError;
}

int ANeuralNetworksModel_create(ANeuralNetworksModel** model) {
  *model = std::make_unique<ANeuralNetworksModel>().release();
  return kNoError;
}

void ANeuralNetworksModel_free(ANeuralNetworksModel* model) { std::default_delete<ANeuralNetworksModel>()(model); }

int ANeuralNetworksModel_addOperand(ANeuralNetworksModel* model, const ANeuralNetworksOperandType* type) {
  KeptOperand operand;
  operand.type = static_cast<OperandType>(type->type);
  operand.dimensions.assign(type->dimensions, type->dimensions + type->dimensionCount);
  operand.scale = type->scale;
  operand.zero_point = type->zeroPoint;
  if (!nnfleet::doubles::is_valid(operand)) return kBadData;
  model->operands.push_back(operand);
  return kNoError;
}

int ANeuralNetworksModel_setOperandValue(ANeuralNetworksModel* model, int32_t index, const void* value, size_t bytes) {
  KeptOperand& operand = model->operands.at(static_cast<std::size_t>(index));
  operand.left_out = value == nullptr;
  if (operand.left_out) return bytes == 0 ? kNoError : kBadData;
  if (bytes != nnfleet::doubles::size_of(operand)) return kBadData;
  const auto* const first = static_cast<const uint8_t*>(value);
  operand.value.assign(first, first + bytes);
  operand.has_value = true;
  return kNoError;
}

int ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(ANeuralNetworksModel* model, int32_t index,
                                                             const ANeuralNetworksSymmPerChannelQuantParams* channels) {
  KeptOperand& operand = model->operands.at(static_cast<std::size_t>(index));
  operand.has_channels = channels->channelDim < operand.dimensions.size() &&
                         operand.dimensions[channels->channelDim] == channels->scaleCount;
  return operand.has_channels ? kNoError : kBadData;
}

int ANeuralNetworksModel_setOperandValueFromModel(ANeuralNetworksModel* model, int32_t index,
                                                  const ANeuralNetworksModel* value) {
  KeptOperand& operand = model->operands.at(static_cast<std::size_t>(index));
  operand.has_value = operand.type == OperandType::Model && value->finished;
  return operand.has_value ? kNoError : kBadData;
}

int ANeuralNetworksModel_addOperation(ANeuralNetworksModel* model, int32_t code, uint32_t input_count,
                                      const uint32_t* inputs, uint32_t output_count, const uint32_t* outputs) {
  if (!indices_exist(*model, inputs, input_count) || !indices_exist(*model, outputs, output_count)) return kBadData;
  model->operations.push_back({code, {inputs, inputs + input_count}, {outputs, outputs + output_count}});
  return kNoError;
}

int ANeuralNetworksModel_identifyInputsAndOutputs(ANeuralNetworksModel* model, uint32_t input_count,
                                                  const uint32_t* inputs, uint32_t output_count,
                                                  const uint32_t* outputs) {
  if (!indices_exist(*model, inputs, input_count) || !indices_exist(*model, outputs, output_count)) return kBadData;
  model->inputs.assign(inputs, inputs + input_count);
  model->outputs.assign(outputs, outputs + output_count);
  return kNoError;
}

int ANeuralNetworksModel_finish(ANeuralNetworksModel* model) {
  model->finished = model->holds_together();
  return model->finished ? kNoError : kBadData;
}

int ANeuralNetworksModel_getSupportedOperationsForDevices(const ANeuralNetworksModel* model,
                                                          const ANeuralNetworksDevice* const* devices_asked,
                                                          uint32_t count, bool* supported) {
  if (count != 1 || !model->finished) return kBadData;
  for (const KeptOperation& operation : model->operations) {
    *supported++ = takes(*devices_asked[0]->scripted, *model, operation);
  }
  return kNoError;
}

int ANeuralNetworksCompilation_createForDevices(ANeuralNetworksModel* model, const ANeuralNetworksDevice* const* wanted,
                                                uint32_t count, ANeuralNetworksCompilation** compilation) {
  if (count != 1 || !model->finished) return kBadData;
  *compilation = std::make_unique<ANeuralNetworksCompilation>().release();
  (*compilation)->model = model;
  (*compilation)->device = wanted[0]->scripted;
  return kNoError;
}

void ANeuralNetworksCompilation_free(ANeuralNetworksCompilation* compilation) {
  std::default_delete<ANeuralNetworksCompilation>()(compilation);
}

int ANeuralNetworksCompilation_setPreference(ANeuralNetworksCompilation*, int32_t preference) {
  return preference >= 0 && preference <= 2 ? kNoError : kBadData;
}

int ANeuralNetworksCompilation_setCaching(ANeuralNetworksCompilation* compilation, const char* folder, const uint8_t*) {
  compilation->cached = std::string(folder) + "/" + compilation->device->name + ".compiled";
  return kNoError;
}

int ANeuralNetworksCompilation_finish(ANeuralNetworksCompilation* compilation) {
  const ScriptedDevice& device = *compilation->device;
  if (const int failed = device.trouble.at("compile")) return failed;
  const bool hit = !compilation->cached.empty() && std::ifstream(compilation->cached).good();
  if (compilation->model->operations.size() > 1) device.take_time(hit ? "cached_ms" : "compile_ms");
  if (!compilation->cached.empty()) std::ofstream(compilation->cached) << device.version;
  return kNoError;
}

int ANeuralNetworksExecution_create(ANeuralNetworksCompilation* compilation, ANeuralNetworksExecution** execution) {
  *execution = std::make_unique<ANeuralNetworksExecution>().release();
  (*execution)->compilation = compilation;
  return kNoError;
}

void ANeuralNetworksExecution_free(ANeuralNetworksExecution* execution) {
  std::default_delete<ANeuralNetworksExecution>()(execution);
}

int ANeuralNetworksExecution_setInput(ANeuralNetworksExecution* execution, int32_t index,
                                      const ANeuralNetworksOperandType*, const void* buffer, size_t bytes) {
  const KeptModel& model = *execution->compilation->model;
  const auto at = static_cast<std::size_t>(index);
  if (at >= model.inputs.size() || bytes != nnfleet::doubles::size_of(model.operands[model.inputs[at]])) return kBadData;
  const auto* const first = static_cast<const uint8_t*>(buffer);
  execution->inputs[index].assign(first, first + bytes);
  return kNoError;
}

int ANeuralNetworksExecution_setOutput(ANeuralNetworksExecution* execution, int32_t index,
                                       const ANeuralNetworksOperandType*, void* buffer, size_t bytes) {
  execution->outputs[index] = {static_cast<uint8_t*>(buffer), bytes};
  return kNoError;
}

int ANeuralNetworksExecution_compute(ANeuralNetworksExecution* execution) { return compute(execution); }

int ANeuralNetworksExecution_burstCompute(ANeuralNetworksExecution* execution, ANeuralNetworksBurst*) {
  return compute(execution);
}

int ANeuralNetworksBurst_create(ANeuralNetworksCompilation*, ANeuralNetworksBurst** burst) {
  *burst = std::make_unique<ANeuralNetworksBurst>().release();
  return kNoError;
}

void ANeuralNetworksBurst_free(ANeuralNetworksBurst* burst) { std::default_delete<ANeuralNetworksBurst>()(burst); }

int ANeuralNetworksMemoryDesc_create(ANeuralNetworksMemoryDesc** description) {
  *description = std::make_unique<ANeuralNetworksMemoryDesc>().release();
  return kNoError;
}

void ANeuralNetworksMemoryDesc_free(ANeuralNetworksMemoryDesc* description) {
  std::default_delete<ANeuralNetworksMemoryDesc>()(description);
}

int ANeuralNetworksMemoryDesc_addInputRole(ANeuralNetworksMemoryDesc* description,
                                           const ANeuralNetworksCompilation* compilation, uint32_t, float) {
  description->given = compilation->device->memory;
  return kNoError;
}

int ANeuralNetworksMemoryDesc_finish(ANeuralNetworksMemoryDesc*) { return kNoError; }

int ANeuralNetworksMemory_createFromDesc(const ANeuralNetworksMemoryDesc* description, ANeuralNetworksMemory** memory) {
  if (!description->given) return nnfleet::nnapi::kOpFailed;
  *memory = std::make_unique<ANeuralNetworksMemory>().release();
  return kNoError;
}

void ANeuralNetworksMemory_free(ANeuralNetworksMemory* memory) { std::default_delete<ANeuralNetworksMemory>()(memory); }

int ANeuralNetworksMemory_createFromAHardwareBuffer(const AHardwareBuffer*, ANeuralNetworksMemory** memory) {
  script().trouble.at("buffers");
  *memory = std::make_unique<ANeuralNetworksMemory>().release();
  return kNoError;
}

}  // extern "C"
