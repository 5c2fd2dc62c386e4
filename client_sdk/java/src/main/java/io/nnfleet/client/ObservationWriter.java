package io.nnfleet.client;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;

/**
 * Observations in their wire form: one record is one window of runs of one arm, or the mark of a start. What is not known is
 * left out, because absent is not zero.
 */
final class ObservationWriter {
    static final String WINDOW = "window";
    static final String ATTEMPT = "attempt";

    private final String reportId;
    private final String app;
    private final String appVersion;
    private final Clock clock;
    private final Random random;

    ObservationWriter(String reportId, String app, String appVersion, Clock clock, Random random) {
        this.reportId = reportId;
        this.app = app;
        this.appVersion = appVersion;
        this.clock = clock;
        this.random = random;
    }

    /** The mark of a start: everything known before the driver is touched. */
    Map<String, Object> attempt(Trial trial) {
        Map<String, Object> record = head(trial, ATTEMPT);
        record.put("conditions", one("before", trial.before));
        return finished(record);
    }

    /** The measurements of an arm. {@code fell} (the walk went one rung down) is its one fallback. */
    Map<String, Object> window(Trial trial, Window window, String attemptId, Map<String, Object> after, boolean fell) {
        Map<String, Object> record = head(trial, WINDOW);
        Map<String, Object> conditions = one("before", trial.before);
        conditions.put("after", after.isEmpty() ? null : after);
        record.put("attempt_id", attemptId);
        record.put("executed", window.executed == null ? null : window.executed.toJson());
        record.put("init", window.init == null ? null : window.init.toJson());
        record.put("runs", runs(window, fell));
        record.put("conditions", conditions);
        record.put("golden", window.golden == null ? null : window.golden.toJson());
        record.put("memory_peak_kb", window.memoryPeakKb == null || window.memoryPeakKb < 0 ? null : window.memoryPeakKb);
        return finished(record);
    }

    private Map<String, Object> head(Trial trial, String kind) {
        Map<String, Object> record = new LinkedHashMap<>();
        record.put("record_id", RecordId.at(clock.nowS(), random));
        record.put("report_id", reportId);
        record.put("app", app);
        record.put("release", trial.plan.release);
        record.put("model", trial.plan.model);
        record.put("plan", trial.plan.name);
        record.put("arm", trial.rung.armId);
        record.put("propensity", trial.propensity);
        record.put("workload", trial.workload);
        record.put("kind", kind);
        Map<String, Object> requested = one("delegate", trial.rung.arm.get("delegate"));
        requested.put("accelerator", trial.rung.arm.get("accelerator"));
        record.put("requested", requested);
        return record;
    }

    private static Map<String, Object> runs(Window window, boolean fell) {
        Map<String, Object> runs = one("count", window.count);
        runs.put("errors", window.errors);
        runs.put("timeouts", window.timeouts);
        runs.put("fallbacks", fell ? 1 : 0);
        runs.put("latency_us", window.count == 0 ? null : latency(window));
        return runs;
    }

    private static Map<String, Object> latency(Window window) {
        Map<String, Object> latency = one("min", window.minUs);
        latency.put("max", window.maxUs);
        latency.put("sum", window.sumUs);
        latency.put("histogram", window.histogram.toJson());
        return latency;
    }

    private Map<String, Object> finished(Map<String, Object> record) {
        record.put("device_time", Instants.written(clock.nowS()));
        record.put("monotonic_ms", (long) (clock.monotonicS() * 1000));
        record.put("sdk", Version.SDK);
        record.put("app_version", appVersion);
        return present(record);
    }

    private static Map<String, Object> one(String name, Object value) {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put(name, value);
        return map;
    }

    /** Without what is unknown: null, and numbers that JSON cannot say (a driver's NaN). */
    private static Map<String, Object> present(Map<?, ?> record) {
        Map<String, Object> kept = new LinkedHashMap<>();
        for (Map.Entry<?, ?> entry : record.entrySet()) {
            Object value = entry.getValue();
            if (value instanceof Map) {
                kept.put(entry.getKey().toString(), present((Map<?, ?>) value));
            } else if (value != null && !isUnsayable(value)) {
                kept.put(entry.getKey().toString(), value);
            }
        }
        return kept;
    }

    private static boolean isUnsayable(Object value) {
        return value instanceof Number && !(Math.abs(((Number) value).doubleValue()) <= Double.MAX_VALUE);
    }
}
