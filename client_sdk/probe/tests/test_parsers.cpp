#include <cstring>

#include "check.h"
#include "parsers/graphics.h"
#include "parsers/loader.h"
#include "parsers/machine.h"
#include "parsers/properties.h"
#include "parsers/texts.h"

using namespace nnfleet::parsers;
using Names = std::vector<std::string>;

TEST("getprop is read with values that are empty, span lines or hold brackets") {
  const Properties properties = parse_getprop("[a.b]: []\n[c]: [two\nlines]\n[d]: [x[0]]\n[last]: [end]");
  CHECK_EQUAL(properties.size(), 4U);
  CHECK_EQUAL(properties.at("a.b"), "");
  CHECK_EQUAL(properties.at("c"), "two\nlines");
  CHECK_EQUAL(properties.at("d"), "x[0]");
  CHECK_EQUAL(properties.at("last"), "end");
}

TEST("what is no getprop is no property") {
  CHECK(parse_getprop("").empty());
  CHECK(parse_getprop("[half").empty());
  CHECK(parse_getprop("[half]: [").empty());
  CHECK(parse_getprop("]: [").empty());
}

TEST("a phone without a model or with a level that is no number is no Android phone") {
  Properties phone{{"ro.product.manufacturer", "Acme"}, {"ro.product.model", "One"}, {"ro.build.version.sdk", "34"}};
  CHECK(device_of(phone).has_value());
  CHECK(!device_of({}).has_value());
  phone["ro.build.version.sdk"] = "UpsideDownCake";
  CHECK(!device_of(phone).has_value());
}

TEST("the chip's name is taken from the older properties where Android does not say it yet") {
  const Properties phone{
      {"ro.product.manufacturer", "Acme"}, {"ro.product.model", "One"},
      {"ro.build.version.sdk", "30"},      {"ro.soc.model", ""},
      {"ro.mediatek.platform", "MT6893"},  {"ro.product.cpu.abilist", "arm64-v8a,armeabi-v7a,,armeabi"}};
  CHECK_EQUAL(device_of(phone)->soc_model.value_or(""), "MT6893");
  CHECK_EQUAL(device_of(phone)->abis, (Names{"arm64-v8a", "armeabi-v7a", "armeabi"}));
}

TEST("texts lose control characters, edges and broken UTF-8, and are cut between characters") {
  CHECK_EQUAL(safe_text("  a\tb\x7F ").value_or(""), "a b");
  CHECK_EQUAL(safe_text("bad \xFF end").value_or(""), "bad ? end");
  CHECK_EQUAL(safe_text("Grün", 3).value_or(""), "Gr");
  CHECK_EQUAL(safe_text("Grün", 4).value_or(""), "Grü");
  CHECK(!safe_text(" \n ").has_value());
}

TEST("texts that name a unit or a person are left out") {
  CHECK(!safe_text("v1 018f4d1e-7c00-7abc-8def-0123456789ab").has_value());
  CHECK(!safe_text("wlan 00:1A:2b:3c:4d:5e").has_value());
  CHECK(!safe_text("built by jo.doe@example.org").has_value());
  CHECK(!safe_text("490154203237518").has_value());
}

TEST("versions and builds that merely look long stay") {
  for (const char* const text :
       {"1.0.0-20240101123456789", "google/x/x:16/BP4A.1/1:user/release-keys", "v1.r44p1-01eac0.5f2d",
        "4901542032375180", "a@b", "12:34:56", "deadbeef:00:11:22:33:44:55"}) {
    CHECK_EQUAL(safe_text(text).value_or(""), text);
  }
}

TEST("cores are counted, those that are asleep too") {
  CHECK_EQUAL(cores_of("0-7\n").value_or(0), 8);
  CHECK_EQUAL(cores_of("0-3,6").value_or(0), 5);
  CHECK_EQUAL(cores_of("0").value_or(0), 1);
  CHECK(!cores_of("").has_value());
  CHECK(!cores_of("none").has_value());
  CHECK(!cores_of("5-1").has_value());
}

TEST("a feature counts where every core has it") {
  const char* const cpuinfo =
      "processor\t: 0\nFeatures\t: fp asimd asimdhp asimddp i8mm\n\nprocessor\t: 1\nFeatures\t: fp asimd asimdhp\n";
  CHECK_EQUAL(features_of_cpuinfo(cpuinfo), Names{"fp16"});
  CHECK_EQUAL(features_of_cpuinfo("flags\t\t: fpu sse4_2 avx2 f16c\n"), (Names{"sse4_2", "f16c", "avx2"}));
  CHECK(features_of_cpuinfo("model name : Features of a CPU\n").empty());
}

TEST("the kernel's capability bits are read into the same words") {
  CHECK_EQUAL(features_of_hwcap(1U << 10 | 1U << 20, 1U << 13), (Names{"fp16", "dotprod", "i8mm"}));
  CHECK(features_of_hwcap(1, 0).empty());
}

TEST("the auxiliary vector yields both words, and nothing from half a pair") {
  const uint64_t pairs[] = {16, 0x123, 26, 0x456, 0, 0};
  const std::string_view bytes(reinterpret_cast<const char*>(pairs), sizeof pairs);
  CHECK_EQUAL(parse_auxv(bytes).hwcap, 0x123U);
  CHECK_EQUAL(parse_auxv(bytes).hwcap2, 0x456U);
  CHECK_EQUAL(parse_auxv(bytes.substr(0, 24)).hwcap2, 0U);
}

TEST("memory is rounded so that phones of one model agree") {
  CHECK_EQUAL(ram_mb_of("MemTotal:        8126464 kB\nMemFree: 1 kB\n").value_or(0), 7936);
  CHECK_EQUAL(ram_mb_of("MemTotal:        8120000 kB\n").value_or(0), 7936);
  CHECK(!ram_mb_of("MemFree: 8 kB\n").has_value());
  CHECK(!ram_mb_of("MemTotal: lots\n").has_value());
}

TEST("the number of a SoC is a number and nothing else") {
  CHECK_EQUAL(soc_id_of("639\n").value_or(0), 639);
  CHECK_EQUAL(soc_id_of("0").value_or(1), 0);
  for (const char* other : {"", "\n", "-1\n", "jep106:0070\n", "99999999999\n"}) CHECK(!soc_id_of(other).has_value());
}

TEST("versions are found in what drivers write") {
  CHECK_EQUAL(version_in("OpenGL ES 3.2 v1.r44p1-01eac0").value_or(""), "3.2");
  CHECK_EQUAL(version_in("OpenGL ES 3.2 V@0615.77 (GIT@1e2d3c, I4f)").value_or(""), "3.2");
  CHECK_EQUAL(version_in("OpenCL 3.0 QUALCOMM build: commit 12").value_or(""), "3.0");
  CHECK_EQUAL(version_in("1.3").value_or(""), "1.3");
  CHECK(!version_in("none 3").has_value());
  CHECK(!version_in("3.").has_value());
  CHECK_EQUAL(vulkan_version(0x00403000), "1.3");
}

TEST("only a file that is not there counts as absent") {
  CHECK(says_not_there("dlopen failed: library \"libhiai.so\" not found", "libhiai.so"));
  CHECK(says_not_there("libhiai.so: cannot open shared object file: No such file or directory", "libhiai.so"));
  CHECK(
      !says_not_there("dlopen failed: library \"libhiai.so\" needed or dlopened by \"app\" is not accessible for the "
                      "namespace \"classloader\"",
                      "libhiai.so"));
  CHECK(!says_not_there("dlopen failed: library \"libother.so\" not found: needed by libhiai.so", "libhiai.so"));
  CHECK(!says_not_there("libother.so: cannot open shared object file: No such file or directory", "libhiai.so"));
  CHECK(!says_not_there("libhiai.so: undefined symbol: x", "libhiai.so"));
}
