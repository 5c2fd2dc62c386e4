package io.nnfleet.client;

import java.util.Map;
import java.util.TreeMap;

/**
 * Measurements of one arm, from its start to its close. Warm-up runs and runs that failed are in none of the latencies.
 * What was not measured is null, never zero.
 */
public final class Window {
    private static final String IMPOSSIBLE_DURATION = "run:impossible_duration";
    private static final int MOST_CODE_CHARACTERS = 128;

    Init init;
    Executed executed;
    GoldenResult golden;
    Long memoryPeakKb;
    String failure;
    int timeouts;
    long count;
    long minUs = Long.MAX_VALUE;
    long maxUs;
    long sumUs;
    final Map<String, Integer> errors = new TreeMap<>();
    final Histogram histogram = new Histogram();

    /** The {@code phase:code} that ended it early ({@code run:timeout} for a run that outlived its limit), or null. */
    public String failure() {
        return failure;
    }

    /** Runs that worked. */
    public long count() {
        return count;
    }

    public Histogram histogram() {
        return histogram;
    }

    /** It ran to its end and no golden check failed. */
    boolean isGood() {
        return failure == null && (golden == null || golden.isGood());
    }

    /** Adds one run. A negative duration is an error: as zero it would flatter. */
    void record(long latencyUs) {
        if (latencyUs < 0) {
            countError(IMPOSSIBLE_DURATION);
            return;
        }
        count++;
        sumUs += latencyUs;
        minUs = Math.min(minUs, latencyUs);
        maxUs = Math.max(maxUs, latencyUs);
        histogram.record(latencyUs);
    }

    /**
     * Starts one arm, checks it, warms it up, runs it, closes it. Trouble ends up in the window, never outside it. A golden
     * check that fails ends the window before the first run, unless the arm {@code mustServe} because nothing lies below it.
     * Only what is no ArmFailed or RunTimeout escapes.
     */
    static Window measure(Runner runner, String model, Rung rung, long runs, boolean mustServe) {
        Window window = new Window();
        try {
            Session session = runner.start(model, rung.armId, rung.arm);
            try {
                window.use(session, rung.arm, runs, mustServe);
            } finally {
                window.close(session);
            }
        } catch (ArmFailed failed) {
            window.fail(failed);
        } catch (RunTimeout slow) {
            window.timeOut();
        }
        return window;
    }

    private void use(Session session, Map<String, Object> arm, long runs, boolean mustServe) {
        try {
            golden = session.golden();
            if (golden == null || golden.isGood() || mustServe) {
                run(session, arm, runs);
            }
        } catch (ArmFailed failed) {
            fail(failed);
        } catch (RunTimeout slow) {
            timeOut();
        }
        init = session.init();
        executed = session.executed();
        if (session instanceof MeasuresMemory) {
            memoryPeakKb = ((MeasuresMemory) session).memoryPeakKb();
        }
    }

    private void run(Session session, Map<String, Object> arm, long runs) throws ArmFailed, RunTimeout {
        Object warmups = arm.get("warmup_runs");
        for (long made = 0; warmups instanceof Long && made < (Long) warmups; made++) {
            session.run();
        }
        for (long made = 0; made < runs; made++) {
            record(session.run());
        }
    }

    // A close that fails is counted, but no reason to leave the arm: the runs were made.
    private void close(Session session) {
        try {
            session.close();
        } catch (ArmFailed failed) {
            countError(errorCode(failed));
        } catch (RunTimeout slow) {
            countError("close:timeout");
        }
    }

    private void fail(ArmFailed failed) {
        failure = errorCode(failed);
        countError(failure);
    }

    private void timeOut() {
        failure = "run:timeout";
        timeouts++;
    }

    private void countError(String code) {
        Integer before = errors.get(code);
        errors.put(code, before == null ? 1 : before + 1);
    }

    /** On one short line: a driver may say anything, and one odd character must not sink the record. */
    private static String errorCode(ArmFailed failed) {
        StringBuilder out = new StringBuilder();
        String whole = failed.phase + ":" + failed.code;
        for (int at = 0; at < whole.length() && at < MOST_CODE_CHARACTERS; at++) {
            char character = whole.charAt(at);
            boolean printable = !Character.isISOControl(character) && !Character.isSurrogate(character);
            out.append(printable ? character : ' ');
        }
        return out.toString();
    }
}
