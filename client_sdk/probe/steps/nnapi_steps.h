// The steps of NNAPI, as the parent takes them.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "steps/parent.h"

namespace nnfleet::steps {

using RefusedModels = std::set<std::string>;  // operations whose model NNAPI itself found invalid

std::optional<report::Nnapi> ask_devices(Parent& parent);

// Fills `supports`. A question that kills the child is noted and counts as "no"; the next child goes on behind it.
// After three deaths nobody asks further, and what was not asked counts as "no": such a driver is better left alone.
void ask_supports(Parent& parent, int index, std::optional<int64_t> runtime_level, report::NnapiDevice& device,
                  RefusedModels& refused);

// Fills `outputs` where anything that the driver takes could be compared with NNAPI's CPU. A driver that dies of an
// operation goes on behind it, three times at most.
void ask_outputs(Parent& parent, int index, int cpu_index, report::NnapiDevice& device);

// Fills `run`; `cpu_index` -1 compares with nothing.
void ask_reference(Parent& parent, int index, int cpu_index, report::NnapiDevice& device,
                   std::optional<bool>& memory_domains);

}  // namespace nnfleet::steps
