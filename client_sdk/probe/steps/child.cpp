#include "steps/child.h"

namespace nnfleet::steps {
namespace {

struct Step {
  const char* name;
  std::size_t arguments;
  void (*run)(const std::string&, const Arguments&);
};

constexpr Step kSteps[] = {
    {"devices", 0, devices}, {"supports", 3, supports}, {"outputs", 3, outputs},
    {"reference", 4, reference}, {"gles", 0, gles},     {"vulkan", 0, vulkan},
    {"opencl", 0, opencl},   {"runtime", 1, runtime},   {"buffers", 0, buffers},
};

}  // namespace

int run_child(const std::string& step, const std::string& library_folder, const std::vector<std::string>& arguments) {
  for (const Step& known : kSteps) {
    if (known.name == step && known.arguments == arguments.size()) {
      known.run(library_folder, arguments);
      return 0;
    }
  }
  return 2;
}

}  // namespace nnfleet::steps
