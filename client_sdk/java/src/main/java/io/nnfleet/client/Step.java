package io.nnfleet.client;

/** One rung of a walk. */
public final class Step {
    /** How a rung ended. */
    public enum Ending {
        RAN,
        FAILED,
        TIMED_OUT,
        GOLDEN_FAILED,
        /** It failed or crashed before, and was not tried. */
        PASSED_OVER
    }

    public final String armId;
    public final Ending ending;

    /** Null for a rung that was passed over. */
    public final Window window;

    Step(String armId, Ending ending, Window window) {
        this.armId = armId;
        this.ending = ending;
        this.window = window;
    }
}
