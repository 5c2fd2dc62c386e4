// Shared libraries by name: whether they load, and what the loader said where they do not.
#pragma once

#include <dlfcn.h>
#include <cstring>
#include <string>

namespace nnfleet::readers {

struct Opened {
  void* handle = nullptr;
  std::string error;  // the loader's own words; empty where it loaded
};

// `folder` is the only place to look, empty for the system's own search. Runs the library's constructors: a child's
// job.
Opened open_library(const std::string& folder, const std::string& name);

template <typename Function>
Function symbol(void* handle, const char* name) {
  void* const address = dlsym(handle, name);
  Function function = nullptr;
  static_assert(sizeof function == sizeof address);
  std::memcpy(&function, &address, sizeof function);
  return function;
}

}  // namespace nnfleet::readers
