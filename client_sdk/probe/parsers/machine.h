// Cores, their features and memory, from what the kernel prints.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nnfleet::parsers {

// "0-7", "0-3,6": /sys/devices/system/cpu/possible, which counts cores that are asleep too.
std::optional<int> cores_of(std::string_view possible);

// Features that decide which kernels a CPU runs, in the fleet's words and in their order; of /proc/cpuinfo, those that
// every core has.
std::vector<std::string> features_of_cpuinfo(std::string_view cpuinfo);

// The same from AT_HWCAP and AT_HWCAP2 of a 64-bit ARM process.
std::vector<std::string> features_of_hwcap(uint64_t hwcap, uint64_t hwcap2);

struct Hwcaps {
  uint64_t hwcap = 0;
  uint64_t hwcap2 = 0;
};

// /proc/self/auxv of a 64-bit process.
Hwcaps parse_auxv(std::string_view bytes);

// Megabytes, to the next 64: kernels reserve a little more or less.
std::optional<int> ram_mb_of(std::string_view meminfo);

// /sys/devices/soc0/soc_id: decimal, with a line's end or without; some kernels write a name there instead.
std::optional<int> soc_id_of(std::string_view text);

}  // namespace nnfleet::parsers
