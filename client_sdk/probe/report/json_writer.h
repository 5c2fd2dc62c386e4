// JSON, written in order.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace nnfleet::report {

// Values follow keys; commas are put where they belong. Numbers have no exponent.
class JsonWriter {
 public:
  JsonWriter& open(char bracket);
  JsonWriter& close(char bracket);
  JsonWriter& key(std::string_view name);
  JsonWriter& text(std::string_view value);
  JsonWriter& number(int64_t value);
  JsonWriter& decimal(double value);  // three digits at most
  JsonWriter& boolean(bool value);
  JsonWriter& null();

  const std::string& str() const { return out_; }

 private:
  JsonWriter& raw(std::string_view value);
  void quote(std::string_view value);

  std::string out_;
  bool needs_comma_ = false;
};

}  // namespace nnfleet::report
