// libneuralnetworks.so, loaded at run time: one pointer a function, null where this Android lacks it.
#pragma once

#include <string>

#include "nnapi/declarations.h"

// X(field, exported name, parameters); every function returns int or void as its comment group says.
#define NNFLEET_NNAPI_CALLS(X)                                                                                      \
  X(device_count, ANeuralNetworks_getDeviceCount, (uint32_t*))                                                      \
  X(device, ANeuralNetworks_getDevice, (uint32_t, ANeuralNetworksDevice**))                                         \
  X(device_name, ANeuralNetworksDevice_getName, (const ANeuralNetworksDevice*, const char**))                       \
  X(device_type, ANeuralNetworksDevice_getType, (const ANeuralNetworksDevice*, int32_t*))                           \
  X(device_version, ANeuralNetworksDevice_getVersion, (const ANeuralNetworksDevice*, const char**))                 \
  X(device_level, ANeuralNetworksDevice_getFeatureLevel, (const ANeuralNetworksDevice*, int64_t*))                  \
  X(model_create, ANeuralNetworksModel_create, (ANeuralNetworksModel**))                                            \
  X(model_add_operand, ANeuralNetworksModel_addOperand, (ANeuralNetworksModel*, const ANeuralNetworksOperandType*)) \
  X(model_set_value, ANeuralNetworksModel_setOperandValue, (ANeuralNetworksModel*, int32_t, const void*, size_t))   \
  X(model_set_channels, ANeuralNetworksModel_setOperandSymmPerChannelQuantParams,                                   \
    (ANeuralNetworksModel*, int32_t, const ANeuralNetworksSymmPerChannelQuantParams*))                              \
  X(model_set_model, ANeuralNetworksModel_setOperandValueFromModel,                                                 \
    (ANeuralNetworksModel*, int32_t, const ANeuralNetworksModel*))                                                  \
  X(model_add_operation, ANeuralNetworksModel_addOperation,                                                         \
    (ANeuralNetworksModel*, int32_t, uint32_t, const uint32_t*, uint32_t, const uint32_t*))                         \
  X(model_identify, ANeuralNetworksModel_identifyInputsAndOutputs,                                                  \
    (ANeuralNetworksModel*, uint32_t, const uint32_t*, uint32_t, const uint32_t*))                                  \
  X(model_finish, ANeuralNetworksModel_finish, (ANeuralNetworksModel*))                                             \
  X(supported_operations, ANeuralNetworksModel_getSupportedOperationsForDevices,                                    \
    (const ANeuralNetworksModel*, const ANeuralNetworksDevice* const*, uint32_t, bool*))                            \
  X(compilation_create, ANeuralNetworksCompilation_createForDevices,                                                \
    (ANeuralNetworksModel*, const ANeuralNetworksDevice* const*, uint32_t, ANeuralNetworksCompilation**))           \
  X(compilation_prefer, ANeuralNetworksCompilation_setPreference, (ANeuralNetworksCompilation*, int32_t))           \
  X(compilation_cache, ANeuralNetworksCompilation_setCaching,                                                       \
    (ANeuralNetworksCompilation*, const char*, const uint8_t*))                                                     \
  X(compilation_finish, ANeuralNetworksCompilation_finish, (ANeuralNetworksCompilation*))                           \
  X(execution_create, ANeuralNetworksExecution_create, (ANeuralNetworksCompilation*, ANeuralNetworksExecution**))   \
  X(execution_input, ANeuralNetworksExecution_setInput,                                                             \
    (ANeuralNetworksExecution*, int32_t, const ANeuralNetworksOperandType*, const void*, size_t))                   \
  X(execution_output, ANeuralNetworksExecution_setOutput,                                                           \
    (ANeuralNetworksExecution*, int32_t, const ANeuralNetworksOperandType*, void*, size_t))                         \
  X(execution_compute, ANeuralNetworksExecution_compute, (ANeuralNetworksExecution*))                               \
  X(burst_create, ANeuralNetworksBurst_create, (ANeuralNetworksCompilation*, ANeuralNetworksBurst**))               \
  X(burst_compute, ANeuralNetworksExecution_burstCompute, (ANeuralNetworksExecution*, ANeuralNetworksBurst*))       \
  X(memory_desc_create, ANeuralNetworksMemoryDesc_create, (ANeuralNetworksMemoryDesc**))                            \
  X(memory_desc_input, ANeuralNetworksMemoryDesc_addInputRole,                                                      \
    (ANeuralNetworksMemoryDesc*, const ANeuralNetworksCompilation*, uint32_t, float))                               \
  X(memory_desc_finish, ANeuralNetworksMemoryDesc_finish, (ANeuralNetworksMemoryDesc*))                             \
  X(memory_from_desc, ANeuralNetworksMemory_createFromDesc,                                                         \
    (const ANeuralNetworksMemoryDesc*, ANeuralNetworksMemory**))                                                    \
  X(memory_from_buffer, ANeuralNetworksMemory_createFromAHardwareBuffer,                                            \
    (const AHardwareBuffer*, ANeuralNetworksMemory**))

#define NNFLEET_NNAPI_RELEASES(X)                                                     \
  X(model_free, ANeuralNetworksModel_free, (ANeuralNetworksModel*))                   \
  X(compilation_free, ANeuralNetworksCompilation_free, (ANeuralNetworksCompilation*)) \
  X(execution_free, ANeuralNetworksExecution_free, (ANeuralNetworksExecution*))       \
  X(burst_free, ANeuralNetworksBurst_free, (ANeuralNetworksBurst*))                   \
  X(memory_desc_free, ANeuralNetworksMemoryDesc_free, (ANeuralNetworksMemoryDesc*))   \
  X(memory_free, ANeuralNetworksMemory_free, (ANeuralNetworksMemory*))

namespace nnfleet::nnapi {

struct Library {
#define NNFLEET_FIELD(field, name, parameters) int(*field) parameters = nullptr;
  NNFLEET_NNAPI_CALLS(NNFLEET_FIELD)
#undef NNFLEET_FIELD
#define NNFLEET_FIELD(field, name, parameters) void(*field) parameters = nullptr;
  NNFLEET_NNAPI_RELEASES(NNFLEET_FIELD)
#undef NNFLEET_FIELD
  int64_t (*runtime_level)() = nullptr;  // ANeuralNetworks_getRuntimeFeatureLevel, Android 12 and later

  // Devices can be named, asked and chosen: Android 10 and later.
  bool names_devices() const { return device_count != nullptr && supported_operations != nullptr; }
};

// Every pointer null where the library cannot be loaded. It stays loaded: drivers do not survive dlclose.
Library load_library(const std::string& folder);

}  // namespace nnfleet::nnapi
