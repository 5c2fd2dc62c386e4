#include "parsers/texts.h"

#include <algorithm>
#include <cctype>

namespace nnfleet::parsers {
namespace {

bool is_hex(char character) { return std::isxdigit(static_cast<unsigned char>(character)) != 0; }
bool is_digit(char character) { return std::isdigit(static_cast<unsigned char>(character)) != 0; }
bool is_word(char character) {
  return std::isalnum(static_cast<unsigned char>(character)) != 0 || character == '_' || character == '-';
}

// Whether `text` at `at` has the form: 'x' stands for a hexadecimal digit, anything else for itself. A hexadecimal
// digit or a further separator on either side makes it part of something longer.
bool has_form(std::string_view text, std::size_t at, std::string_view form, char separator) {
  if (at + form.size() > text.size()) return false;
  for (std::size_t place = 0; place < form.size(); ++place) {
    const char found = text[at + place];
    if (form[place] == 'x' ? !is_hex(found) : found != form[place]) return false;
  }
  const std::size_t end = at + form.size();
  const auto continues = [&](char beside) { return is_hex(beside) || beside == separator; };
  return (at == 0 || !continues(text[at - 1])) && (end == text.size() || !continues(text[end]));
}

bool holds_form(std::string_view text, std::string_view form, char separator) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (has_form(text, at, form, separator)) return true;
  }
  return false;
}

bool holds_mail_address(std::string_view text) {
  for (std::size_t at = text.find('@'); at != std::string_view::npos; at = text.find('@', at + 1)) {
    const std::string_view host = text.substr(at + 1);
    const auto dot = std::find_if_not(host.begin(), host.end(), is_word);
    const bool named = at > 0 && (is_word(text[at - 1]) || text[at - 1] == '.' || text[at - 1] == '+');
    if (named && dot != host.begin() && dot != host.end() && *dot == '.') return true;
  }
  return false;
}

bool is_imei(std::string_view text) { return text.size() == 15 && std::all_of(text.begin(), text.end(), is_digit); }

// Bytes of the UTF-8 character at `at`; 0 where there is none.
std::size_t character_bytes(std::string_view text, std::size_t at) {
  const auto first = static_cast<unsigned char>(text[at]);
  const std::size_t bytes = first < 0x80                    ? 1
                            : first >= 0xC2 && first < 0xE0 ? 2
                            : first >= 0xE1 && first < 0xED ? 3
                                                            : 0;
  if (bytes == 0 || at + bytes > text.size()) return 0;
  for (std::size_t more = 1; more < bytes; ++more) {
    if ((static_cast<unsigned char>(text[at + more]) & 0xC0U) != 0x80) return 0;
  }
  return bytes;
}

bool is_control(char character) { return static_cast<unsigned char>(character) < 0x20 || character == 0x7F; }

// Names of drivers are ASCII; of the rest of Unicode the plain two- and three-byte characters are kept.
std::string printable(std::string_view raw, std::size_t most) {
  std::string out;
  for (std::size_t at = 0; at < raw.size();) {
    const std::size_t bytes = character_bytes(raw, at);
    if (out.size() + std::max<std::size_t>(bytes, 1) > most) break;
    if (bytes == 0) {
      out += '?';
    } else if (is_control(raw[at])) {
      out += ' ';
    } else {
      out += raw.substr(at, bytes);
    }
    at += std::max<std::size_t>(bytes, 1);
  }
  return out;
}

}  // namespace

bool names_a_unit(std::string_view text) {
  return is_imei(text) || holds_mail_address(text) || holds_form(text, "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx", 'x') ||
         holds_form(text, "xx:xx:xx:xx:xx:xx", ':');
}

std::optional<std::string> safe_text(std::string_view raw, std::size_t most) {
  std::string text = printable(raw, most);
  text.erase(0, text.find_first_not_of(' '));
  text.erase(text.find_last_not_of(' ') + 1);
  if (text.empty() || names_a_unit(text)) return std::nullopt;
  return text;
}

}  // namespace nnfleet::parsers
