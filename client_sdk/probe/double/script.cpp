#include "script.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <thread>

namespace nnfleet::doubles {
namespace {

// Not a map: constructors of a library that is being loaded may read the script before one would be made.
constexpr const char* kTypes[] = {"unknown", "other", "cpu", "gpu", "accelerator"};

void sleep_ms(int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }

std::string rest_of(std::istringstream& words) {
  std::string rest;
  std::getline(words >> std::ws, rest);
  return rest;
}

ScriptedDevice device_of(std::istringstream& words) {
  ScriptedDevice device;
  std::string type;
  words >> device.name >> type >> device.level;
  device.type = static_cast<int>(std::find(std::begin(kTypes), std::end(kTypes), type) - std::begin(kTypes));
  device.version = rest_of(words);
  return device;
}

std::vector<std::string> between_bars(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream >> std::ws, part, '|');) {
    part.erase(part.find_last_not_of(' ') + 1);
    parts.push_back(part);
  }
  return parts;
}

void add_all(std::set<std::string>& names, std::istringstream& words) {
  names.insert(std::istream_iterator<std::string>(words), {});
}

bool read_trouble(const std::string& what, std::istringstream& words, Trouble& trouble) {
  if (what == "die") add_all(trouble.die, words);
  if (what == "hang") add_all(trouble.hang, words);
  if (what == "fail") {
    std::string moment;
    words >> moment;
    words >> trouble.fail[moment];
  }
  return what == "die" || what == "hang" || what == "fail";
}

void read_device_line(const std::string& what, std::istringstream& words, ScriptedDevice& device) {
  if (what == "takes") add_all(device.takes, words);
  if (what == "refuses") add_all(device.refuses, words);
  if (what == "miscomputes") add_all(device.miscomputes, words);
  if (what == "wrong") device.wrong = true;
  if (what == "no_memory") device.memory = false;
  if (what.size() > 3 && what.substr(what.size() - 3) == "_ms") words >> device.times_ms[what];
}

void read_line(const std::string& line, Script& script) {
  std::istringstream words(line);
  std::string what;
  words >> what;
  if (what == "device") {
    script.devices.push_back(device_of(words));
  } else if (what == "runtime") {
    words >> script.runtime;
  } else if (what == "gles" || what == "vulkan" || what == "opencl") {
    script.graphics[what] = between_bars(rest_of(words));
  } else if (!read_trouble(what, words, script.devices.empty() ? script.trouble : script.devices.back().trouble) &&
             !script.devices.empty()) {
    read_device_line(what, words, script.devices.back());
  }
}

}  // namespace

int Trouble::at(const std::string& moment) const {
  if (die.count(moment) != 0) std::abort();
  while (hang.count(moment) != 0) sleep_ms(1000);
  const auto found = fail.find(moment);
  return found == fail.end() ? 0 : found->second;
}

void ScriptedDevice::take_time(const std::string& what) const {
  const auto found = times_ms.find(what);
  if (found != times_ms.end()) sleep_ms(found->second);
}

const Script& script() {
  static const Script read = [] {
    Script fresh;
    const char* const path = std::getenv("NNFLEET_DOUBLE");
    std::ifstream file(path == nullptr ? "" : path);
    for (std::string line; std::getline(file, line);) read_line(line, fresh);
    return fresh;
  }();
  return read;
}

}  // namespace nnfleet::doubles
