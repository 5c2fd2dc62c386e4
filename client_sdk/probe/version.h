#pragma once

namespace nnfleet {

inline constexpr const char* kVersion = "0.1.0";

}  // namespace nnfleet
