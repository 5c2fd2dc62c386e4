// The facts of one probing, and their JSON: a CapabilityReport of schema 1.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace nnfleet::report {

inline constexpr std::size_t kMostBytes = 256 * 1024;
inline constexpr std::size_t kMostFailures = 64;
inline constexpr std::size_t kMostWrong = 16;  // operations: what gets more of them wrong is not told apart by them

using Text = std::optional<std::string>;

struct Device {
  std::string manufacturer;
  std::string model;
  int api_level = 0;
  Text brand;
  Text product;
  Text soc_manufacturer;
  Text soc_model;
  std::optional<int> soc_id;  // the number that the kernel gives the SoC: siblings share a name, not a number
  Text build_fingerprint;
  std::vector<std::string> abis;
  std::optional<int> ram_mb;
  std::optional<int> cores;
  std::vector<std::string> cpu_features;
};

// Milliseconds, coarse: see coarse_ms.
struct ReferenceRun {
  std::string status;  // ok, wrong-output, failed, crashed, hung
  Text type;           // operand type of the graph that ran
  Text error;          // phase and result code where the driver refused
  std::map<std::string, double> times_ms;
};

// Outputs of one operation each, against NNAPI's CPU on the same input: operand types that came out wrong by operation.
struct Outputs {
  int checked = 0;
  std::map<std::string, std::vector<std::string>> wrong;
};

struct NnapiDevice {
  std::string name;
  Text type;
  Text version;
  std::optional<int64_t> feature_level;
  std::optional<std::map<std::string, std::vector<std::string>>> supports;  // none: nobody could ask
  std::optional<Outputs> outputs;                                           // none: there was no CPU, or nothing ran
  std::optional<ReferenceRun> run;                                          // none: it takes no reference graph
};

struct Nnapi {
  std::optional<int64_t> runtime_feature_level;
  std::vector<NnapiDevice> devices;
};

struct Gpu {
  Text renderer;
  Text gles;
  Text vulkan;
  Text opencl;
};

struct Failure {
  std::string step;
  std::optional<int> signal;
  bool timeout = false;
};

struct Report {
  Device device;
  std::optional<Nnapi> nnapi;  // none: this Android cannot name devices, or nobody could ask
  Gpu gpu;
  std::map<std::string, Text> runtimes;  // "loaded", "absent", none where it could not be told
  std::optional<bool> hardware_buffers;
  std::optional<bool> memory_domains;
  std::vector<Failure> failures;
};

std::string to_json(const Report& report);

// A time rounded to 1, 1.5, 2, 3, 5 or 7 times a power of ten. Phones of one class thereby write the same bytes:
// reports are addressed by their digest, and exact times would make every phone's report a new one.
double coarse_ms(double milliseconds);

}  // namespace nnfleet::report
