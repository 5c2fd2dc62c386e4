#pragma once

#include <map>

#include "steps/parent.h"

namespace nnfleet::steps {

// Vendor runtime → "loaded", "absent", or none where it could not be told.
std::map<std::string, report::Text> ask_runtimes(Parent& parent);

}  // namespace nnfleet::steps
