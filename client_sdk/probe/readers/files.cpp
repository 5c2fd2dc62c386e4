#include "readers/files.h"

#include <cstdio>
#include <memory>

namespace nnfleet::readers {

std::optional<std::string> read_file(const std::string& path) {
  constexpr std::size_t kMostBytes = 1024 * 1024;
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (file == nullptr) return std::nullopt;
  std::string bytes(kMostBytes, '\0');  // files under /proc have no size
  bytes.resize(std::fread(bytes.data(), 1, bytes.size(), file.get()));
  return bytes;
}

}  // namespace nnfleet::readers
