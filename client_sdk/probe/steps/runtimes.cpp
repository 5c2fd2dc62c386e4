// Vendor runtimes, only tried to load. Loading runs their constructors, so each family has its own child.
#include "steps/runtimes.h"

#include <unistd.h>
#include <cerrno>

#include "parsers/loader.h"
#include "readers/libraries.h"
#include "steps/child.h"

namespace nnfleet::steps {
namespace {

struct Family {
  const char* name;  // as in decisions
  std::vector<const char*> libraries;
};

// Names as the vendors' own SDKs and LiteRT's vendor plug-ins load them.
const std::vector<Family>& families() {
  static const std::vector<Family> all{
      {"qnn", {"libQnnHtp.so", "libQnnGpu.so", "libSNPE.so", "libcdsprpc.so"}},
      {"neuron", {"libneuronusdk_adapter.mtk.so", "libneuron_adapter.mgvi.so", "libneuron_adapter.so"}},
      {"hiai", {"libhiai.so", "libhiai_ir.so"}},
      {"enn", {"libenn_public_api_cpp.so", "libenn_public_api_ndk_v1.so"}},
      {"edgetpu", {"libedgetpu_litert.so", "libedgetpu_util.so", "libedgetpu_client.google.so"}},
  };
  return all;
}

constexpr const char* kFolders[] = {"/vendor/lib64", "/vendor/lib",       "/system/lib64", "/system/lib",
                                    "/odm/lib64",    "/system_ext/lib64", "/product/lib64"};

// Whether no folder of the phone holds the file. A folder that may not be searched leaves it open.
bool nowhere(const std::string& library) {
  for (const char* const folder : kFolders) {
    const std::string path = std::string(folder) + "/" + library;
    if (access(path.c_str(), F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR)) return false;
  }
  return true;
}

}  // namespace

void runtime(const std::string& library_folder, const Arguments& arguments) {
  bool absent = true;
  for (const Family& family : families()) {
    if (family.name != arguments[0]) continue;
    for (const char* const library : family.libraries) {
      const readers::Opened opened = readers::open_library(library_folder, library);
      if (opened.handle != nullptr) return isolation::say("state\tloaded");
      absent = absent && parsers::says_not_there(opened.error, library) && nowhere(library);
    }
  }
  if (absent) isolation::say("state\tabsent");
}

std::map<std::string, report::Text> ask_runtimes(Parent& parent) {
  std::map<std::string, report::Text> states;
  for (const Family& family : families()) {
    report::Text& state = states[family.name];
    const auto outcome = parent.ask("runtime", {family.name}, [&](const Words& words) {
      if (words[0] == "state" && words.size() > 1) state = words[1];
    });
    if (!outcome.well()) state.reset();
    parent.note(std::string("runtime:") + family.name, outcome);
  }
  return states;
}

}  // namespace nnfleet::steps
