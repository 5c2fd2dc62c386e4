#include "parsers/properties.h"

#include <cstdlib>

#include "parsers/texts.h"

namespace nnfleet::parsers {
namespace {

// Where a fact stands, the first that is set. ro.soc.* came with Android 12.
constexpr const char* kSocModel[] = {"ro.soc.model", "ro.hardware.chipname", "ro.vendor.mediatek.platform",
                                     "ro.mediatek.platform"};
constexpr const char* kAbis = "ro.product.cpu.abilist";
constexpr const char* kLevel = "ro.build.version.sdk";

std::optional<std::string> text_of(const Properties& properties, const char* name, std::size_t most = kMostText) {
  const auto found = properties.find(name);
  return found == properties.end() ? std::nullopt : safe_text(found->second, most);
}

std::optional<std::string> soc_model(const Properties& properties) {
  for (const char* const name : kSocModel) {
    if (auto model = text_of(properties, name)) return model;
  }
  return std::nullopt;
}

std::vector<std::string> abis(const Properties& properties) {
  std::vector<std::string> names;
  std::string list = text_of(properties, kAbis).value_or("");
  while (!list.empty() && names.size() < 16) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (auto name = safe_text(list.substr(0, comma), kMostName)) names.push_back(*name);
    list.erase(0, comma + 1);
  }
  return names;
}

}  // namespace

Properties parse_getprop(std::string_view text) {
  Properties properties;
  std::size_t at = 0;
  while ((at = text.find('[', at)) != std::string_view::npos) {
    const std::size_t middle = text.find("]: [", at);
    if (middle == std::string_view::npos) break;
    std::size_t end = text.find("]\n", middle);
    if (end == std::string_view::npos) end = text.rfind(']');
    if (end < middle + 4) break;
    properties[std::string(text.substr(at + 1, middle - at - 1))] = text.substr(middle + 4, end - middle - 4);
    at = end + 1;
  }
  return properties;
}

const std::vector<std::string>& property_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all{"ro.product.manufacturer",
                                 "ro.product.brand",
                                 "ro.product.model",
                                 "ro.product.name",
                                 "ro.soc.manufacturer",
                                 kAbis,
                                 kLevel,
                                 "ro.build.fingerprint"};
    all.insert(all.end(), std::begin(kSocModel), std::end(kSocModel));
    return all;
  }();
  return names;
}

std::optional<report::Device> device_of(const Properties& properties) {
  const auto manufacturer = text_of(properties, "ro.product.manufacturer", kMostName);
  const auto model = text_of(properties, "ro.product.model", kMostName);
  const int level = std::atoi(text_of(properties, kLevel).value_or("0").c_str());
  if (!manufacturer || !model || level < 1 || level > 10'000) return std::nullopt;
  report::Device device;
  device.manufacturer = *manufacturer;
  device.model = *model;
  device.api_level = level;
  device.brand = text_of(properties, "ro.product.brand");
  device.product = text_of(properties, "ro.product.name");
  device.soc_manufacturer = text_of(properties, "ro.soc.manufacturer");
  device.soc_model = soc_model(properties);
  device.build_fingerprint = text_of(properties, "ro.build.fingerprint");
  device.abis = abis(properties);
  return device;
}

}  // namespace nnfleet::parsers
