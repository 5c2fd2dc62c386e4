#pragma once

#include <optional>

#include "steps/parent.h"

namespace nnfleet::steps {

// Whether NNAPI takes an AHardwareBuffer as memory; none where it could not be tried.
std::optional<bool> ask_buffers(Parent& parent);

}  // namespace nnfleet::steps
