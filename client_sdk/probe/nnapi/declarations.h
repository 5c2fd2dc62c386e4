// What NNAPI's C interface looks like: own declarations, so that no NDK header is needed to build.
// Values from AOSP packages/modules/NeuralNetworks, runtime/include/NeuralNetworksTypes.h (Apache-2.0).
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {
struct ANeuralNetworksModel;
struct ANeuralNetworksCompilation;
struct ANeuralNetworksExecution;
struct ANeuralNetworksBurst;
struct ANeuralNetworksMemory;
struct ANeuralNetworksMemoryDesc;
struct ANeuralNetworksDevice;
struct AHardwareBuffer;

struct ANeuralNetworksOperandType {
  int32_t type;
  uint32_t dimensionCount;
  const uint32_t* dimensions;
  float scale;
  int32_t zeroPoint;
};

struct ANeuralNetworksSymmPerChannelQuantParams {
  uint32_t channelDim;
  uint32_t scaleCount;
  const float* scales;
};
}

namespace nnfleet::nnapi {

enum class OperandType : int32_t {
  Float32 = 0,
  Int32 = 1,
  TensorFloat32 = 3,
  TensorInt32 = 4,
  TensorQuant8Asymm = 5,
  Bool = 6,
  TensorQuant16Symm = 7,
  TensorFloat16 = 8,
  TensorBool8 = 9,
  Float16 = 10,
  TensorQuant8SymmPerChannel = 11,
  TensorQuant16Asymm = 12,
  TensorQuant8Symm = 13,
  TensorQuant8AsymmSigned = 14,
  Model = 15,
};

enum Result : int { kNoError = 0, kBadData = 4, kOpFailed = 5, kUnavailableDevice = 9, kDeadObject = 14 };

enum DeviceType : int32_t { kOther = 1, kCpu = 2, kGpu = 3, kAccelerator = 4 };

inline constexpr int32_t kPreferFastSingleAnswer = 1;
inline constexpr int32_t kPaddingSame = 1;
inline constexpr int32_t kFusedRelu = 1;
inline constexpr std::size_t kCacheTokenBytes = 32;

}  // namespace nnfleet::nnapi
