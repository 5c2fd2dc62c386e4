package io.nnfleet.client;

import java.util.Random;

/**
 * The pause after failures, on a monotonic clock: 30 s × 2^(n−1) after the n-th in a row, at most an hour, stretched by up
 * to half at random so that phones which failed together do not return together. A Retry-After is a floor, stretched
 * likewise.
 */
final class Backoff {
    private static final double COOLDOWN_S = 30;
    private static final double MOST_WAIT_S = 3_600;
    private static final double JITTER = 0.5;

    private final Random random;
    private int failures;
    private double notBeforeS;

    Backoff(Random random) {
        this.random = random;
    }

    /** A call worked (a 304 too): the pause is over. */
    synchronized void success() {
        failures = 0;
    }

    /** A call failed: pause, from now. */
    synchronized void failure(double nowS, double retryAfterS) {
        failures++;
        double pauseS = Math.min(MOST_WAIT_S, COOLDOWN_S * Math.pow(2, Math.min(failures - 1, 16)));
        notBeforeS = nowS + Math.max(pauseS, retryAfterS) * (1 + JITTER * random.nextDouble());
    }

    /** Seconds still to wait before the next call may be made; 0 when it may be made now. */
    synchronized double waitS(double nowS) {
        return failures == 0 ? 0 : Math.max(0, notBeforeS - nowS);
    }
}
