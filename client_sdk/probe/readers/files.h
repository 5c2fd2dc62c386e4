// Files of this machine, or of a capture that stands in for one.
#pragma once

#include <optional>
#include <string>

namespace nnfleet::readers {

// The whole file, at most 1 MiB of it; none where it cannot be read.
std::optional<std::string> read_file(const std::string& path);

}  // namespace nnfleet::readers
