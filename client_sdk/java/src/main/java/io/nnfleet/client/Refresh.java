package io.nnfleet.client;

/** What one call of refresh came to. */
public final class Refresh {
    /** False where the network was left alone (still fresh, or cooling down). */
    public final boolean asked;

    /** Where answers come from now. */
    public final Reason reason;

    /** What went wrong in this or the last attempt; null where nothing did. */
    public final String errorCode;

    /** Seconds until it is worth to come back. */
    public final double waitS;

    Refresh(boolean asked, Reason reason, String errorCode, double waitS) {
        this.asked = asked;
        this.reason = reason;
        this.errorCode = errorCode;
        this.waitS = waitS;
    }
}
