package io.nnfleet.client;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A start that never ended, and how often in a row; held until a wall-clock moment. While it may still end it is open, and
 * knows its mark (null for one that is not reported) and until when the one before it was held.
 */
final class Suspicion {
    private static final double HOLD_S = 86_400;
    private static final double CLOCK_SLACK_S = 60;
    private static final int LOOP_CRASHES = 3;
    private static final double LOOP_HOLD_S = 600;
    static final double MOST_HOLD_S = 30 * 86_400;

    final long crashes;
    final double untilS;
    final boolean open;
    final String attemptId;
    private final double beforeUntilS;

    private Suspicion(long crashes, double untilS, boolean open, double beforeUntilS, String attemptId) {
        this.crashes = crashes;
        this.untilS = untilS;
        this.open = open;
        this.beforeUntilS = beforeUntilS;
        this.attemptId = attemptId;
    }

    /** Of a start that is being made, after what was held against its arm, or null. */
    static Suspicion after(Suspicion before, double nowS, String attemptId) {
        long crashes = before == null ? 1 : before.crashes + 1;
        return new Suspicion(crashes, nowS + holdS(crashes), true, before == null ? 0 : before.untilS, attemptId);
    }

    /** The same, of a start that will have no end. */
    Suspicion closed() {
        return new Suspicion(crashes, untilS, false, 0, null);
    }

    /** What was held against the arm before this start; null for nothing. */
    Suspicion before() {
        return crashes > 1 ? new Suspicion(crashes - 1, beforeUntilS, false, 0, null) : null;
    }

    /** Until its end. One that ends later than it can have been meant to was written before the clock was set. */
    boolean holds(double nowS) {
        return nowS < untilS && untilS <= nowS + holdS(crashes) + CLOCK_SLACK_S;
    }

    /** True of an arm that ends one process after the other: an app that opens without its model is better than none. */
    boolean holdsTheLast(double nowS) {
        double sinceS = nowS - (untilS - holdS(crashes));
        double loopS = Math.min(HOLD_S, LOOP_HOLD_S * Math.pow(2, Math.min(crashes - LOOP_CRASHES, 10)));
        return crashes >= LOOP_CRASHES && sinceS >= -CLOCK_SLACK_S && sinceS < loopS;
    }

    /** Four values of an open one, two of others. */
    List<Object> toJson() {
        List<Object> json = new ArrayList<>(Arrays.<Object>asList(crashes, untilS));
        if (open) {
            json.addAll(Arrays.<Object>asList(beforeUntilS, attemptId));
        }
        return json;
    }

    static Suspicion fromJson(Object raw) throws JsonException {
        List<Object> values = Json.list(raw);
        if (values.size() != 2 && values.size() != 4) {
            throw new JsonException("no suspicion");
        }
        boolean open = values.size() == 4;
        double beforeUntilS = open ? Json.number(values.get(2)) : 0;
        String attemptId = open && values.get(3) != null ? Json.text(values.get(3)) : null;
        return new Suspicion(Json.whole(values.get(0)), Json.number(values.get(1)), open, beforeUntilS, attemptId);
    }

    /** How long an arm is kept off after so many starts in a row that never ended. */
    private static double holdS(long crashes) {
        return Math.min(MOST_HOLD_S, HOLD_S * Math.pow(2, Math.min(crashes - 1, 10)));
    }
}
