#include "parsers/machine.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <set>
#include <sstream>

namespace nnfleet::parsers {
namespace {

struct Feature {
  const char* name;     // in the fleet's words
  const char* cpuinfo;  // in /proc/cpuinfo, of ARM or x86
  uint64_t hwcap;       // bits of AT_HWCAP and AT_HWCAP2 on arm64, Linux's asm/hwcap.h; 0: none
  uint64_t hwcap2;
};

constexpr Feature kFeatures[] = {
    {"fp16", "asimdhp", 1U << 10, 0},
    {"dotprod", "asimddp", 1U << 20, 0},
    {"i8mm", "i8mm", 0, 1U << 13},
    {"bf16", "bf16", 0, 1U << 14},
    {"sve", "sve", 1U << 22, 0},
    {"sve2", "sve2", 0, 1U << 1},
    {"sme", "sme", 0, 1U << 23},
    {"neon", "neon", 0, 0},
    {"sse4_2", "sse4_2", 0, 0},
    {"avx", "avx", 0, 0},
    {"f16c", "f16c", 0, 0},
    {"fma", "fma", 0, 0},
    {"avx2", "avx2", 0, 0},
    {"avx512f", "avx512f", 0, 0},
    {"avx512_vnni", "avx512_vnni", 0, 0},
    {"avx_vnni", "avx_vnni", 0, 0},
};

using Words = std::set<std::string>;

Words words_of(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), std::istream_iterator<std::string>()};
}

// The value of a line "name : value"; none for any other line.
std::optional<std::string> value_of(const std::string& line, std::string_view name) {
  if (line.compare(0, name.size(), name) != 0) return std::nullopt;
  const std::size_t colon = line.find(':');
  if (line.find_first_not_of(" \t", name.size()) != colon || colon == std::string::npos) return std::nullopt;
  return line.substr(colon + 1);
}

Words common(const Words& left, const Words& right) {
  Words both;
  std::set_intersection(left.begin(), left.end(), right.begin(), right.end(), std::inserter(both, both.end()));
  return both;
}

}  // namespace

std::optional<int> cores_of(std::string_view possible) {
  int cores = 0;
  std::istringstream ranges{std::string(possible)};
  for (std::string range; std::getline(ranges, range, ',');) {
    int first = 0;
    int last = 0;
    const int found = std::sscanf(range.c_str(), "%d-%d", &first, &last);
    if (found < 1 || first < 0) return std::nullopt;
    cores += found == 1 ? 1 : last - first + 1;
  }
  return cores >= 1 && cores <= 1024 ? std::optional(cores) : std::nullopt;
}

std::vector<std::string> features_of_cpuinfo(std::string_view cpuinfo) {
  std::optional<Words> everywhere;
  std::istringstream lines{std::string(cpuinfo)};
  for (std::string line; std::getline(lines, line);) {
    auto flags = value_of(line, "Features");
    if (!flags) flags = value_of(line, "flags");
    if (flags) everywhere = everywhere ? common(*everywhere, words_of(*flags)) : words_of(*flags);
  }
  std::vector<std::string> features;
  for (const Feature& feature : kFeatures) {
    if (everywhere && everywhere->count(feature.cpuinfo) != 0) features.emplace_back(feature.name);
  }
  return features;
}

std::vector<std::string> features_of_hwcap(uint64_t hwcap, uint64_t hwcap2) {
  std::vector<std::string> features;
  for (const Feature& feature : kFeatures) {
    if ((hwcap & feature.hwcap) != 0 || (hwcap2 & feature.hwcap2) != 0) features.emplace_back(feature.name);
  }
  return features;
}

Hwcaps parse_auxv(std::string_view bytes) {
  constexpr uint64_t kHwcap = 16;
  constexpr uint64_t kHwcap2 = 26;
  Hwcaps found;
  for (std::size_t at = 0; at + 16 <= bytes.size(); at += 16) {
    uint64_t pair[2];
    std::memcpy(pair, bytes.data() + at, sizeof pair);
    if (pair[0] == kHwcap) found.hwcap = pair[1];
    if (pair[0] == kHwcap2) found.hwcap2 = pair[1];
  }
  return found;
}

std::optional<int> ram_mb_of(std::string_view meminfo) {
  constexpr int64_t kKilobytesPer64Mb = 64 * 1024;
  std::istringstream lines{std::string(meminfo)};
  for (std::string line; std::getline(lines, line);) {
    const auto total = value_of(line, "MemTotal");
    if (!total) continue;
    const int64_t kilobytes = std::strtoll(total->c_str(), nullptr, 10);
    const int64_t steps = (kilobytes + kKilobytesPer64Mb / 2) / kKilobytesPer64Mb;
    return steps >= 1 && steps <= 65'536 ? std::optional(static_cast<int>(steps * 64)) : std::nullopt;
  }
  return std::nullopt;
}

std::optional<int> soc_id_of(std::string_view text) {
  const std::string_view digits = text.substr(0, text.find('\n'));
  int id = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), id);
  const bool whole = error == std::errc() && end == digits.data() + digits.size() && id >= 0;
  return whole ? std::optional(id) : std::nullopt;
}

}  // namespace nnfleet::parsers
