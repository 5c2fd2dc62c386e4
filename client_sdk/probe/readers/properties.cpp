#include "readers/properties.h"

#include <cstdint>

#include "readers/files.h"
#include "readers/libraries.h"

namespace nnfleet::readers {
namespace {

// From bionic's sys/system_properties.h, looked up at run time: other C libraries have none.
struct prop_info;
using Find = const prop_info* (*)(const char*);
using Callback = void (*)(void*, const char*, const char*, uint32_t);
using Read = void (*)(const prop_info*, Callback, void*);

void keep(void* kept, const char*, const char* value, uint32_t) { *static_cast<std::string*>(kept) = value; }

parsers::Properties system_properties() {
  const auto find = symbol<Find>(RTLD_DEFAULT, "__system_property_find");
  const auto read = symbol<Read>(RTLD_DEFAULT, "__system_property_read_callback");
  parsers::Properties properties;
  if (find == nullptr || read == nullptr) return properties;
  for (const std::string& name : parsers::property_names()) {
    const prop_info* const info = find(name.c_str());
    if (info != nullptr) read(info, keep, &properties[name]);
  }
  return properties;
}

}  // namespace

parsers::Properties read_properties(const std::string& root) {
  const auto captured = root.empty() ? std::nullopt : read_file(root + "/getprop.txt");
  return captured ? parsers::parse_getprop(*captured) : system_properties();
}

}  // namespace nnfleet::readers
