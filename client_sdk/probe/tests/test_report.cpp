#include "check.h"
#include "report/json_writer.h"
#include "report/report.h"

using namespace nnfleet::report;

TEST("JSON has its commas, quotes and nulls in place") {
  JsonWriter json;
  json.open('{').key("a").open('[').number(-1).decimal(1.5).boolean(true).null().close(']');
  json.key("b\"").text("back\\slash").key("c").open('{').close('}').close('}');
  CHECK_EQUAL(json.str(), R"({"a":[-1,1.5,true,null],"b\"":"back\\slash","c":{}})");
}

TEST("decimals are short and never in scientific notation") {
  const auto written = [](double value) {
    JsonWriter json;
    return json.decimal(value).str();
  };
  CHECK_EQUAL(written(0.001), "0.001");
  CHECK_EQUAL(written(70), "70");
  CHECK_EQUAL(written(0), "0");
  CHECK_EQUAL(written(1.5), "1.5");
  CHECK_EQUAL(written(1e9), "1000000000");
}

TEST("times that differ by noise become the same number") {
  CHECK_EQUAL(coarse_ms(45.1), 50.0);
  CHECK_EQUAL(coarse_ms(52.3), 50.0);
  CHECK_EQUAL(coarse_ms(0.99), 1.0);
  CHECK_EQUAL(coarse_ms(9.7), 10.0);
  CHECK_EQUAL(coarse_ms(0), 0.0);
  CHECK_EQUAL(coarse_ms(0.0001), 0.001);
}

TEST("a rounded time is within thirty percent of the time") {
  for (double time = 0.01; time < 10'000; time *= 1.01) {
    CHECK(coarse_ms(time) <= 1.3 * time && coarse_ms(time) >= time / 1.3);
  }
}

TEST("rounding a rounded time changes nothing") {
  for (double time = 0.01; time < 10'000; time *= 1.01) CHECK_EQUAL(coarse_ms(coarse_ms(time)), coarse_ms(time));
}

TEST("the largest report there can be stays under the limit") {
  Report report;
  report.device.manufacturer = report.device.model = std::string(128, 'm');
  report.nnapi.emplace();
  NnapiDevice device;
  device.name = std::string(128, 'n');
  device.version = std::string(512, 'v');
  device.supports.emplace();
  for (int operation = 0; operation < 106; ++operation) {
    (*device.supports)["BIDIRECTIONAL_SEQUENCE_" + std::to_string(operation)] = {
        "TENSOR_FLOAT32", "TENSOR_FLOAT16", "TENSOR_QUANT8_ASYMM", "TENSOR_QUANT8_ASYMM_SIGNED"};
  }
  device.outputs.emplace();
  device.outputs->wrong = *device.supports;
  report.nnapi->devices.assign(16, device);
  report.failures.assign(1000, {std::string(128, 's'), 11, true});
  CHECK(to_json(report).size() < kMostBytes);
}
