// Android's system properties, and what of them a report holds.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "report/report.h"

namespace nnfleet::parsers {

using Properties = std::map<std::string, std::string>;

// What `getprop` prints: `[ro.product.model]: [Pixel 9]`, a value possibly over several lines.
Properties parse_getprop(std::string_view text);

// Properties that a report is made from: the only ones that are read on a phone.
const std::vector<std::string>& property_names();

// None where manufacturer, model or API level is missing: then this is no Android phone.
std::optional<report::Device> device_of(const Properties& properties);

}  // namespace nnfleet::parsers
