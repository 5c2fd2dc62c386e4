#include "report/report.h"

#include <algorithm>
#include <cmath>

#include "report/json_writer.h"
#include "version.h"

namespace nnfleet::report {
namespace {

void text(JsonWriter& json, std::string_view key, const Text& value) {
  if (value) json.key(key).text(*value);
}

void number(JsonWriter& json, std::string_view key, const std::optional<int64_t>& value) {
  if (value) json.key(key).number(*value);
}

void boolean(JsonWriter& json, std::string_view key, const std::optional<bool>& value) {
  if (value) json.key(key).boolean(*value);
}

void texts(JsonWriter& json, std::string_view key, const std::vector<std::string>& values) {
  json.key(key).open('[');
  for (const std::string& value : values) json.text(value);
  json.close(']');
}

void write(JsonWriter& json, const Device& device) {
  json.open('{').key("manufacturer").text(device.manufacturer);
  text(json, "brand", device.brand);
  json.key("model").text(device.model);
  text(json, "product", device.product);
  text(json, "soc_manufacturer", device.soc_manufacturer);
  text(json, "soc_model", device.soc_model);
  number(json, "soc_id", device.soc_id);
  json.key("api_level").number(device.api_level);
  text(json, "build_fingerprint", device.build_fingerprint);
  texts(json, "abis", device.abis);
  number(json, "ram_mb", device.ram_mb);
  json.key("cpu").open('{');
  number(json, "cores", device.cores);
  texts(json, "features", device.cpu_features);
  json.close('}').close('}');
}

void write(JsonWriter& json, const ReferenceRun& run) {
  json.open('{').key("status").text(run.status);
  text(json, "type", run.type);
  text(json, "error", run.error);
  for (const auto& [name, milliseconds] : run.times_ms) json.key(name).decimal(coarse_ms(milliseconds));
  json.close('}');
}

void write(JsonWriter& json, const Outputs& outputs) {
  json.open('{').key("checked").number(outputs.checked).key("wrong").open('{');
  std::size_t written = 0;
  for (const auto& [operation, types] : outputs.wrong) {
    if (written++ < kMostWrong) texts(json, operation, types);
  }
  json.close('}').close('}');
}

void write(JsonWriter& json, const NnapiDevice& device) {
  json.open('{').key("name").text(device.name);
  text(json, "type", device.type);
  text(json, "version", device.version);
  number(json, "feature_level", device.feature_level);
  if (device.supports) {
    json.key("supports").open('{');
    for (const auto& [operation, types] : *device.supports) texts(json, operation, types);
    json.close('}');
  }
  if (device.outputs) write(json.key("outputs"), *device.outputs);
  if (device.run) write(json.key("probe"), *device.run);
  json.close('}');
}

void write(JsonWriter& json, const Nnapi& nnapi) {
  json.open('{');
  number(json, "runtime_feature_level", nnapi.runtime_feature_level);
  json.key("devices").open('[');
  for (const NnapiDevice& device : nnapi.devices) write(json, device);
  json.close(']').close('}');
}

void write(JsonWriter& json, const Gpu& gpu) {
  json.open('{');
  text(json, "renderer", gpu.renderer);
  text(json, "gles", gpu.gles);
  text(json, "vulkan", gpu.vulkan);
  text(json, "opencl", gpu.opencl);
  json.close('}');
}

void write(JsonWriter& json, const Failure& failure) {
  json.open('{').key("step").text(failure.step);
  number(json, "signal", failure.signal);
  if (failure.timeout) json.key("timeout").boolean(true);
  json.close('}');
}

void write_runtimes(JsonWriter& json, const std::map<std::string, Text>& runtimes) {
  json.open('{');
  for (const auto& [name, state] : runtimes) {
    json.key(name);
    state ? json.text(*state) : json.null();
  }
  json.close('}');
}

void write_probe(JsonWriter& json, const std::vector<Failure>& failures) {
  json.open('{').key("name").text("nnfleet-probe").key("version").text(kVersion).key("failures").open('[');
  const std::size_t most = std::min(failures.size(), kMostFailures);
  for (std::size_t at = 0; at < most; ++at) write(json, failures[at]);
  json.close(']').close('}');
}

}  // namespace

std::string to_json(const Report& report) {
  JsonWriter json;
  json.open('{').key("schema").number(1);
  write(json.key("device"), report.device);
  if (report.nnapi) write(json.key("nnapi"), *report.nnapi);
  write(json.key("gpu"), report.gpu);
  write_runtimes(json.key("runtimes"), report.runtimes);
  json.key("memory").open('{');
  boolean(json, "ahardwarebuffer", report.hardware_buffers);
  boolean(json, "memory_domains", report.memory_domains);
  json.close('}');
  write_probe(json.key("probe"), report.failures);
  json.close('}');
  return json.str();
}

double coarse_ms(double milliseconds) {
  if (!(milliseconds > 0)) return 0;
  const double power = std::pow(10.0, std::floor(std::log10(milliseconds)));
  double best = power;
  for (const double digit : {1.0, 1.5, 2.0, 3.0, 5.0, 7.0, 10.0}) {
    const double candidate = digit * power;
    if (std::abs(std::log(candidate / milliseconds)) < std::abs(std::log(best / milliseconds))) best = candidate;
  }
  return std::max(best, 0.001);
}

}  // namespace nnfleet::report
