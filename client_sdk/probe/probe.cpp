#include "probe.h"

#include <cstdlib>
#include <filesystem>

#include "parsers/machine.h"
#include "readers/files.h"
#include "readers/properties.h"
#include "steps/buffers.h"
#include "steps/graphics.h"
#include "steps/nnapi.h"
#include "steps/runtimes.h"

namespace nnfleet {
namespace {

// A new folder in the work folder, removed with all that drivers cached there: each probing compiles cold.
class CacheFolder {
 public:
  explicit CacheFolder(const std::string& work_folder) {
    if (work_folder.empty()) return;
    path_ = work_folder + "/nnfleet-probe-XXXXXX";
    if (mkdtemp(path_.data()) == nullptr) path_.clear();
  }
  ~CacheFolder() {
    std::error_code ignored;  // what cannot be removed lies in the app's own cache
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  CacheFolder(const CacheFolder&) = delete;
  CacheFolder& operator=(const CacheFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::vector<std::string> cpu_features(const std::string& root, const std::vector<std::string>& abis) {
  const auto auxv = readers::read_file(root + "/proc/self/auxv");
  const bool arm64 = sizeof(void*) == 8 && !abis.empty() && abis.front() == "arm64-v8a";
  if (arm64 && auxv) {
    const parsers::Hwcaps caps = parsers::parse_auxv(*auxv);
    if (caps.hwcap != 0) return parsers::features_of_hwcap(caps.hwcap, caps.hwcap2);
  }
  return parsers::features_of_cpuinfo(readers::read_file(root + "/proc/cpuinfo").value_or(""));
}

void read_machine(const std::string& root, report::Device& device) {
  device.soc_id = parsers::soc_id_of(readers::read_file(root + "/sys/devices/soc0/soc_id").value_or(""));
  device.ram_mb = parsers::ram_mb_of(readers::read_file(root + "/proc/meminfo").value_or(""));
  device.cores = parsers::cores_of(readers::read_file(root + "/sys/devices/system/cpu/possible").value_or(""));
  device.cpu_features = cpu_features(root, device.abis);
}

void ask_drivers(const Options& options, report::Report& report) {
  const CacheFolder cache(options.work_folder);
  steps::Parent parent({options.executable, options.library_folder, cache.path(), options.silence_limit_ms},
                       report.failures);
  const steps::NnapiFacts facts = steps::ask_nnapi(parent, report.device.api_level);
  report.nnapi = facts.nnapi;
  report.memory_domains = facts.memory_domains;
  report.gpu = steps::ask_graphics(parent);
  report.runtimes = steps::ask_runtimes(parent);
  report.hardware_buffers = steps::ask_buffers(parent);
}

}  // namespace

std::optional<report::Report> probe(const Options& options) {
  auto device = parsers::device_of(readers::read_properties(options.root));
  if (!device) return std::nullopt;
  report::Report report;
  report.device = *device;
  read_machine(options.root, report.device);
  if (!options.executable.empty()) ask_drivers(options, report);
  return report;
}

}  // namespace nnfleet
