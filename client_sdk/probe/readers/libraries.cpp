#include "readers/libraries.h"

namespace nnfleet::readers {

Opened open_library(const std::string& folder, const std::string& name) {
  const std::string path = folder.empty() ? name : folder + "/" + name;
  Opened opened;
  opened.handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (opened.handle == nullptr) {
    const char* const said = dlerror();
    opened.error = said == nullptr ? "unknown" : said;
  }
  return opened;
}

}  // namespace nnfleet::readers
