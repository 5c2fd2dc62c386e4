#pragma once

#include "steps/parent.h"

namespace nnfleet::steps {

// What the graphics drivers call themselves.
report::Gpu ask_graphics(Parent& parent);

}  // namespace nnfleet::steps
