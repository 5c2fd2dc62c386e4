#include "parsers/loader.h"

#include <string>

namespace nnfleet::parsers {

bool says_not_there(std::string_view loader_error, std::string_view library) {
  // bionic: dlopen failed: library "libX.so" not found. It says the same of a library that libX.so itself needs, then
  // with that one's name, or with "needed by". glibc: libX.so: cannot open shared object file: No such file or
  // directory.
  const std::string bionic = "library \"" + std::string(library) + "\" not found";
  const bool needed = loader_error.find("needed by") != std::string_view::npos;
  if (loader_error.find(bionic) != std::string_view::npos) return !needed;
  const std::size_t named = loader_error.find(std::string(library) + ": cannot open shared object file");
  return named != std::string_view::npos && loader_error.find("No such file") != std::string_view::npos;
}

}  // namespace nnfleet::parsers
