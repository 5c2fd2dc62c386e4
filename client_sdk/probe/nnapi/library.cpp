#include "nnapi/library.h"

#include "readers/libraries.h"

namespace nnfleet::nnapi {

Library load_library(const std::string& folder) {
  Library library;
  void* const handle = readers::open_library(folder, "libneuralnetworks.so").handle;
  if (handle == nullptr) return library;
#define NNFLEET_LOOK_UP(field, name, parameters) \
  library.field = readers::symbol<decltype(library.field)>(handle, #name);
  NNFLEET_NNAPI_CALLS(NNFLEET_LOOK_UP)
  NNFLEET_NNAPI_RELEASES(NNFLEET_LOOK_UP)
#undef NNFLEET_LOOK_UP
  library.runtime_level =
      readers::symbol<decltype(library.runtime_level)>(handle, "ANeuralNetworks_getRuntimeFeatureLevel");
  return library;
}

}  // namespace nnfleet::nnapi
