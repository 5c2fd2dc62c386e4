// Doubles of libEGL, libGLESv2, libvulkan, libOpenCL, libnativewindow and of vendor runtimes: one source for all.
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "script.h"

using nnfleet::doubles::script;

namespace {

// Texts of an interface that the script names; null where it does not.
const char* text(const char* interface, std::size_t at) {
  const auto found = script().graphics.find(interface);
  if (found == script().graphics.end() || found->second.size() <= at) return nullptr;
  return found->second[at].c_str();
}

char anything;  // what handles point at

// Constructors of a vendor runtime run when it is loaded.
[[maybe_unused]] const int loaded = NNFLEET_DOUBLE_CONSTRUCTS ? script().trouble.at("hiai") : 0;

}  // namespace

extern "C" {

void* eglGetDisplay(void*) { return &anything; }
unsigned eglInitialize(void*, int32_t*, int32_t*) { return text("gles", 0) == nullptr ? 0 : 1; }
unsigned eglChooseConfig(void*, const int32_t*, void** config, int32_t, int32_t* count) {
  script().trouble.at("gles");
  *config = &anything;
  *count = 1;
  return 1;
}
void* eglCreatePbufferSurface(void*, void*, const int32_t*) { return &anything; }
void* eglCreateContext(void*, void*, void*, const int32_t*) { return &anything; }
unsigned eglMakeCurrent(void*, void*, void*, void*) { return 1; }
const char* glGetString(uint32_t name) { return text("gles", name == 0x1F01 ? 0 : 1); }

int32_t vkCreateInstance(const void*, const void*, void** instance) {
  script().trouble.at("vulkan");
  *instance = &anything;
  return text("vulkan", 0) == nullptr ? -9 : 0;  // VK_ERROR_INCOMPATIBLE_DRIVER
}
int32_t vkEnumeratePhysicalDevices(void*, uint32_t* count, void** device) {
  *count = 1;
  *device = &anything;
  return 0;
}
void vkGetPhysicalDeviceProperties(void*, unsigned char* properties) {
  const uint32_t version = static_cast<uint32_t>(std::strtoul(text("vulkan", 1), nullptr, 0));
  std::memcpy(properties, &version, sizeof version);
  std::strncpy(reinterpret_cast<char*>(properties) + 20, text("vulkan", 0), 255);
}

int32_t clGetPlatformIDs(uint32_t, void** platform, uint32_t*) {
  script().trouble.at("opencl");
  *platform = &anything;
  return text("opencl", 0) == nullptr ? -1001 : 0;
}
int32_t clGetPlatformInfo(void*, uint32_t, size_t bytes, void* value, size_t*) {
  std::strncpy(static_cast<char*>(value), text("opencl", 0), bytes);
  return 0;
}

int AHardwareBuffer_allocate(const void*, void** buffer) {
  *buffer = &anything;
  return 0;
}
void AHardwareBuffer_release(void*) {}

}  // extern "C"
