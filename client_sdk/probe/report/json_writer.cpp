#include "report/json_writer.h"

#include <cstdio>

namespace nnfleet::report {

JsonWriter& JsonWriter::raw(std::string_view value) {
  if (needs_comma_) out_ += ',';
  out_ += value;
  needs_comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::open(char bracket) {
  raw(std::string_view(&bracket, 1));
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::close(char bracket) {
  out_ += bracket;
  needs_comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  if (needs_comma_) out_ += ',';
  quote(name);
  out_ += ':';
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::text(std::string_view value) {
  raw("");
  quote(value);
  return *this;
}

void JsonWriter::quote(std::string_view value) {
  out_ += '"';
  for (const char character : value) {
    if (character == '"' || character == '\\') out_ += '\\';
    if (static_cast<unsigned char>(character) >= 0x20) out_ += character;  // texts hold no control characters
  }
  out_ += '"';
}

JsonWriter& JsonWriter::number(int64_t value) { return raw(std::to_string(value)); }

JsonWriter& JsonWriter::decimal(double value) {
  char digits[64];
  std::snprintf(digits, sizeof digits, "%.3f", value);
  std::string_view shortest(digits);
  while (shortest.back() == '0') shortest.remove_suffix(1);
  if (shortest.back() == '.') shortest.remove_suffix(1);
  return raw(shortest);
}

JsonWriter& JsonWriter::boolean(bool value) { return raw(value ? "true" : "false"); }

JsonWriter& JsonWriter::null() { return raw("null"); }

}  // namespace nnfleet::report
