// Versions of graphics interfaces, as drivers write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace nnfleet::parsers {

// The first "major.minor" in "OpenGL ES 3.2 v1.r44p1-01eac0", "OpenCL 3.0 Mali", …
std::optional<std::string> version_in(std::string_view text);

// "1.3" of Vulkan's packed version (variant 3 bits, major 7, minor 10, patch 12).
std::string vulkan_version(uint32_t packed);

}  // namespace nnfleet::parsers
