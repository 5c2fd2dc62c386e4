#include "parsers/graphics.h"

#include <algorithm>
#include <cctype>

namespace nnfleet::parsers {
namespace {

bool is_digit(char character) { return std::isdigit(static_cast<unsigned char>(character)) != 0; }

std::string_view digits_at(std::string_view text, std::size_t at) {
  const std::string_view rest = text.substr(std::min(at, text.size()));
  const auto end = std::find_if_not(rest.begin(), rest.end(), is_digit);
  return rest.substr(0, static_cast<std::size_t>(end - rest.begin()));
}

}  // namespace

std::optional<std::string> version_in(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view major = digits_at(text, at);
    const std::size_t after = at + major.size();
    if (!major.empty() && major.size() < 4 && after < text.size() && text[after] == '.') {
      const std::string_view minor = digits_at(text, after + 1);
      if (!minor.empty() && minor.size() < 4) return std::string(major) + "." + std::string(minor);
    }
    at = after + 1;
  }
  return std::nullopt;
}

std::string vulkan_version(uint32_t packed) {
  return std::to_string((packed >> 22) & 0x7FU) + "." + std::to_string((packed >> 12) & 0x3FFU);
}

}  // namespace nnfleet::parsers
