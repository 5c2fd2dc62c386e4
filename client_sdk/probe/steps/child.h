// The child's side of all steps.
#pragma once

#include <string>
#include <vector>

namespace nnfleet::steps {

// Does one step and says what it finds; the exit code. 2 for a step that does not exist or lacks arguments.
int run_child(const std::string& step, const std::string& library_folder, const std::vector<std::string>& arguments);

// One a step. `arguments` are as many as the step takes, see the table in child.cpp.
using Arguments = std::vector<std::string>;
void devices(const std::string& library_folder, const Arguments& arguments);
void supports(const std::string& library_folder, const Arguments& arguments);
void outputs(const std::string& library_folder, const Arguments& arguments);
void reference(const std::string& library_folder, const Arguments& arguments);
void gles(const std::string& library_folder, const Arguments& arguments);
void vulkan(const std::string& library_folder, const Arguments& arguments);
void opencl(const std::string& library_folder, const Arguments& arguments);
void runtime(const std::string& library_folder, const Arguments& arguments);
void buffers(const std::string& library_folder, const Arguments& arguments);

}  // namespace nnfleet::steps
