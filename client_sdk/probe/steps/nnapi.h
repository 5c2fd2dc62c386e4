// Everything asked of NNAPI.
#pragma once

#include <optional>

#include "steps/parent.h"

namespace nnfleet::steps {

struct NnapiFacts {
  std::optional<report::Nnapi> nnapi;
  std::optional<bool> memory_domains;
};

// None where this Android cannot name its devices (before Android 10) or the first step died. `api_level` stands in for
// the runtime's feature level where the runtime cannot say it: up to level 5 the two are the same number.
NnapiFacts ask_nnapi(Parent& parent, int api_level);

}  // namespace nnfleet::steps
