// Texts from drivers and properties, made fit for a report.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace nnfleet::parsers {

inline constexpr std::size_t kMostName = 128;
inline constexpr std::size_t kMostText = 512;

// UTF-8 without control characters, trimmed, at most `most` bytes; none where nothing is left, or where it holds what
// names a person or a unit. The server refuses such a report whole; here only the text is left out.
std::optional<std::string> safe_text(std::string_view raw, std::size_t most = kMostText);

// A UUID, a MAC address, an e-mail address, or fifteen digits (an IMEI) and nothing else.
bool names_a_unit(std::string_view text);

}  // namespace nnfleet::parsers
