package io.nnfleet.client;

import java.util.Map;
import java.util.Random;

/** Valid objects for tests; a test names only what matters to it. */
final class Builders {
    static final byte[] REPORT = "{\"schema\": 1, \"device\": {\"model\": \"Pixel 10a\"}}".getBytes(Json.UTF_8);
    static final String NPU = "int8.tflite.nnapi.google-edgetpu";
    static final String GPU = "fp16.tflite.gpu";
    static final String CPU = "fp32.tflite.cpu";

    private Builders() {}

    static String split(int weight, String... ladder) {
        return "{\"weight\": " + weight + ", \"ladder\": [\"" + String.join("\", \"", ladder) + "\"]}";
    }

    static String exploring(int weight, String... ladder) {
        return split(weight, ladder).replace("]}", "], \"explore\": true}");
    }

    static String plan(String... splits) {
        return "{\"salt\": \"seg-7\", \"hash\": \"murmur3-32/1\", \"splits\": [" + String.join(", ", splits) + "]}";
    }

    /** A model with these plans under their names, each situation leading to one. */
    static String modelWith(String situations, String plans) {
        return ("{'situations': [" + situations + "], 'plans': {" + plans + "}, 'arms': {"
                        + "'" + NPU + "': {'runtime': 'litert', 'delegate': 'nnapi', 'accelerator': 'google-edgetpu'},"
                        + "'" + GPU + "': {'runtime': 'litert', 'delegate': 'gpu'},"
                        + "'" + CPU + "': {'runtime': 'litert', 'delegate': 'cpu'}}}")
                .replace('\'', '"');
    }

    static String model(String... splits) {
        return modelWith("{'when': {}, 'plan': 'main'}", "'main': " + plan(splits));
    }

    static String document(String model, int release) {
        return "{\"schema\": 1, \"app\": \"camera\", \"release\": " + release
                + ", \"issued_at\": \"2026-05-28T00:00:00Z\", \"expires_at\": \"2026-06-27T00:00:00Z\","
                + " \"models\": {\"segmentation\": " + model + "},"
                + " \"telemetry\": {\"sample\": 1.0, \"flush_s\": 3600}, \"advice\": [], \"probe\": [\"runtimes.neuron\"]}";
    }

    static String document() {
        return document(model(split(10_000, NPU, GPU, CPU)), 41);
    }

    static FleetClient.Builder client(Transport transport, Clock clock) {
        return FleetClient.builder("camera", REPORT, transport, new Defaults().cpu("segmentation", CPU))
                .unitId("unit-1")
                .clock(clock)
                .random(new Random(1));
    }

    static Map<String, Object> json(String text) {
        try {
            return Json.object(text.getBytes(Json.UTF_8));
        } catch (JsonException wrong) {
            throw new AssertionError(wrong);
        }
    }

    @SuppressWarnings("unchecked")
    static Map<String, Object> part(Map<String, Object> json, String name) {
        return (Map<String, Object>) json.get(name);
    }
}
