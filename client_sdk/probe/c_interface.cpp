#include <cstdlib>
#include <cstring>

#include "nnfleet_probe.h"
#include "probe.h"
#include "version.h"

namespace {

constexpr int kDefaultSilenceMs = 5000;

std::string or_empty(const char* text) { return text == nullptr ? "" : text; }

char* copied(const std::string& text) {
  auto* const copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy != nullptr) std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

nnfleet_probe_status write_report(const nnfleet_probe_options* options, std::string& json) {
  if (options == nullptr || options->abi != NNFLEET_PROBE_ABI) return NNFLEET_PROBE_BAD_OPTIONS;
  nnfleet::Options wanted;
  wanted.executable = or_empty(options->executable);
  wanted.work_folder = or_empty(options->work_folder);
  wanted.root = or_empty(options->root);
  wanted.library_folder = or_empty(options->library_folder);
  wanted.silence_limit_ms = options->silence_limit_ms > 0 ? options->silence_limit_ms : kDefaultSilenceMs;
  const auto report = nnfleet::probe(wanted);
  if (!report) return NNFLEET_PROBE_NOT_ANDROID;
  json = nnfleet::report::to_json(*report);
  return json.size() > nnfleet::report::kMostBytes ? NNFLEET_PROBE_TOO_LARGE : NNFLEET_PROBE_OK;
}

}  // namespace

extern "C" {

char* nnfleet_probe_report(const nnfleet_probe_options* options, nnfleet_probe_status* status) {
  std::string json;
  const nnfleet_probe_status ended = write_report(options, json);
  if (status != nullptr) *status = ended;
  return ended == NNFLEET_PROBE_OK ? copied(json) : nullptr;
}

void nnfleet_probe_free(char* report) { std::free(report); }

const char* nnfleet_probe_version(void) { return nnfleet::kVersion; }

}  // extern "C"
