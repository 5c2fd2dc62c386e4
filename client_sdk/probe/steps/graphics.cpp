// Renderer and versions of OpenGL ES, Vulkan and OpenCL, each from its own library in its own child. Declarations are
// our own, after the public registries of Khronos.
#include "steps/graphics.h"

#include <array>
#include <cstdint>
#include <cstring>

#include "parsers/graphics.h"
#include "parsers/texts.h"
#include "readers/libraries.h"
#include "steps/child.h"

namespace nnfleet::steps {
namespace {

using readers::symbol;

void say_text(const char* fact, const char* text) {
  if (text == nullptr) return;
  if (const auto safe = parsers::safe_text(text)) isolation::say(std::string(fact) + "\t" + *safe);
}

struct Egl {
  void* (*get_display)(void*);
  unsigned (*initialize)(void*, int32_t*, int32_t*);
  unsigned (*choose_config)(void*, const int32_t*, void**, int32_t, int32_t*);
  void* (*create_surface)(void*, void*, const int32_t*);
  void* (*create_context)(void*, void*, void*, const int32_t*);
  unsigned (*make_current)(void*, void*, void*, void*);

  explicit Egl(void* library)
      : get_display(symbol<decltype(get_display)>(library, "eglGetDisplay")),
        initialize(symbol<decltype(initialize)>(library, "eglInitialize")),
        choose_config(symbol<decltype(choose_config)>(library, "eglChooseConfig")),
        create_surface(symbol<decltype(create_surface)>(library, "eglCreatePbufferSurface")),
        create_context(symbol<decltype(create_context)>(library, "eglCreateContext")),
        make_current(symbol<decltype(make_current)>(library, "eglMakeCurrent")) {}

  bool complete() const {
    return get_display != nullptr && initialize != nullptr && choose_config != nullptr && create_surface != nullptr &&
           create_context != nullptr && make_current != nullptr;
  }

  // A context of OpenGL ES 2 or newer on a surface of one pixel; the process ends before it has to be undone.
  bool make_context() const {
    constexpr int32_t kConfig[] = {0x3033, 1, 0x3040, 4, 0x3038};  // SURFACE_TYPE PBUFFER, RENDERABLE_TYPE ES2
    constexpr int32_t kPixel[] = {0x3057, 1, 0x3056, 1, 0x3038};   // WIDTH, HEIGHT
    constexpr int32_t kVersion[] = {0x3098, 2, 0x3038};            // CONTEXT_CLIENT_VERSION
    void* const display = get_display(nullptr);
    void* config = nullptr;
    int32_t count = 0;
    if (initialize(display, nullptr, nullptr) == 0) return false;
    if (choose_config(display, kConfig, &config, 1, &count) == 0 || count < 1) return false;
    void* const surface = create_surface(display, config, kPixel);
    void* const context = create_context(display, config, nullptr, kVersion);
    return make_current(display, surface, surface, context) != 0;
  }
};

// Only the fields in front are read; drivers write up to the whole structure, 824 bytes.
struct VulkanProperties {
  uint32_t api_version;
  uint32_t ids[4];
  char name[256];
  std::array<uint8_t, 2048> rest;
};

struct VulkanInstanceInfo {
  int32_t type = 1;  // VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO
  const void* next = nullptr;
  uint32_t flags = 0;
  const void* application = nullptr;
  uint32_t layers = 0;
  const char* const* layer_names = nullptr;
  uint32_t extensions = 0;
  const char* const* extension_names = nullptr;
};

using CreateInstance = int32_t (*)(const VulkanInstanceInfo*, const void*, void**);
using EnumerateDevices = int32_t (*)(void*, uint32_t*, void**);
using GetProperties = void (*)(void*, VulkanProperties*);
using GetPlatforms = int32_t (*)(uint32_t, void**, uint32_t*);
using GetPlatformInfo = int32_t (*)(void*, uint32_t, size_t, void*, size_t*);

// Hears a renderer and a version of one interface.
report::Text ask_version(Parent& parent, const std::string& step, report::Gpu& gpu) {
  report::Text version;
  const auto outcome = parent.ask(step, {}, [&](const Words& words) {
    if (words.size() < 2) return;
    if (words[0] == "renderer" && !gpu.renderer) gpu.renderer = words[1];
    if (words[0] == "version") version = parsers::version_in(words[1]);
  });
  parent.note(step, outcome);
  return version;
}

}  // namespace

void gles(const std::string& library_folder, const Arguments&) {
  const Egl egl(readers::open_library(library_folder, "libEGL.so").handle);
  void* const library = readers::open_library(library_folder, "libGLESv2.so").handle;
  const auto get_string = symbol<const char* (*)(uint32_t)>(library, "glGetString");
  if (!egl.complete() || get_string == nullptr || !egl.make_context()) return;
  say_text("renderer", get_string(0x1F01));
  say_text("version", get_string(0x1F02));
}

void vulkan(const std::string& library_folder, const Arguments&) {
  void* const library = readers::open_library(library_folder, "libvulkan.so").handle;
  const auto create = symbol<CreateInstance>(library, "vkCreateInstance");
  const auto enumerate = symbol<EnumerateDevices>(library, "vkEnumeratePhysicalDevices");
  const auto properties_of = symbol<GetProperties>(library, "vkGetPhysicalDeviceProperties");
  if (create == nullptr || enumerate == nullptr || properties_of == nullptr) return;
  const VulkanInstanceInfo info;
  void* instance = nullptr;
  void* device = nullptr;
  uint32_t count = 1;
  if (create(&info, nullptr, &instance) != 0) return;
  if (enumerate(instance, &count, &device) < 0 || count < 1) return;  // 5: there are more
  VulkanProperties properties{};
  properties_of(device, &properties);
  properties.name[sizeof properties.name - 1] = '\0';
  say_text("renderer", properties.name);
  say_text("version", parsers::vulkan_version(properties.api_version).c_str());
}

void opencl(const std::string& library_folder, const Arguments&) {
  void* const library = readers::open_library(library_folder, "libOpenCL.so").handle;
  const auto platforms = symbol<GetPlatforms>(library, "clGetPlatformIDs");
  const auto info = symbol<GetPlatformInfo>(library, "clGetPlatformInfo");
  void* platform = nullptr;
  char version[256] = "";
  if (platforms == nullptr || info == nullptr || platforms(1, &platform, nullptr) != 0) return;
  if (info(platform, 0x0901, sizeof version - 1, version, nullptr) == 0) say_text("version", version);
}

report::Gpu ask_graphics(Parent& parent) {
  report::Gpu gpu;
  gpu.gles = ask_version(parent, "gles", gpu);
  gpu.vulkan = ask_version(parent, "vulkan", gpu);
  gpu.opencl = ask_version(parent, "opencl", gpu);
  return gpu;
}

}  // namespace nnfleet::steps
