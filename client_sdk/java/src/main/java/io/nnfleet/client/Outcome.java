package io.nnfleet.client;

import java.util.Collections;
import java.util.List;

/** What a use of a model came to. */
public final class Outcome {
    public final Plan plan;

    /** The arm that served; null where even the bundled default's last rung failed. */
    public final String armId;

    /** The whole walk, rungs passed over included. */
    public final List<Step> steps;

    Outcome(Plan plan, String armId, List<Step> steps) {
        this.plan = plan;
        this.armId = armId;
        this.steps = Collections.unmodifiableList(steps);
    }

    /** {@code ladder-exhausted} where no arm served, else the plan's own code. */
    public String errorCode() {
        return armId == null ? "ladder-exhausted" : plan.errorCode;
    }

    /** Latencies of all runs that worked, whichever arm made them. */
    public Histogram latency() {
        Histogram merged = new Histogram();
        for (Step step : steps) {
            merged = step.window == null ? merged : merged.merge(step.window.histogram);
        }
        return merged;
    }
}
