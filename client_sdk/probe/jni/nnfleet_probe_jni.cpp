// io.nnfleet.client.NativeProbe: the C interface for Java.
#include <jni.h>

#include <cstring>
#include <string>

#include "nnfleet_probe.h"

namespace {

// A Java string as UTF-8 paths, empty for null. Paths of apps are ASCII, for which Java's own UTF-8 is the same.
std::string text_of(JNIEnv* java, jstring text) {
  if (text == nullptr) return "";
  const char* const characters = java->GetStringUTFChars(text, nullptr);
  if (characters == nullptr) return "";  // out of memory; Java throws on return
  const std::string copy(characters);
  java->ReleaseStringUTFChars(text, characters);
  return copy;
}

const char* or_null(const std::string& text) { return text.empty() ? nullptr : text.c_str(); }

jbyteArray bytes_of(JNIEnv* java, const char* report) {
  const auto size = static_cast<jsize>(std::strlen(report));
  const jbyteArray bytes = java->NewByteArray(size);
  if (bytes != nullptr) java->SetByteArrayRegion(bytes, 0, size, reinterpret_cast<const jbyte*>(report));
  return bytes;
}

}  // namespace

extern "C" JNIEXPORT jbyteArray JNICALL Java_io_nnfleet_client_NativeProbe_probe(JNIEnv* java, jclass,
                                                                                 jstring executable,
                                                                                 jstring work_folder, jstring root,
                                                                                 jstring library_folder) {
  const std::string texts[] = {text_of(java, executable), text_of(java, work_folder), text_of(java, root),
                               text_of(java, library_folder)};
  const nnfleet_probe_options options{NNFLEET_PROBE_ABI, or_null(texts[0]), or_null(texts[1]),
                                      or_null(texts[2]), or_null(texts[3]), 0};
  char* const report = nnfleet_probe_report(&options, nullptr);
  if (report == nullptr) return nullptr;
  const jbyteArray bytes = bytes_of(java, report);
  nnfleet_probe_free(report);
  return bytes;
}
