package io.nnfleet.client;

/**
 * Time, passed in. The wall clock dates documents and observations; the monotonic one measures waits, because a phone's
 * wall clock jumps.
 */
public interface Clock {
    /** Seconds since 1970-01-01 UTC. */
    double nowS();

    /** Seconds since any fixed moment; never goes back. */
    double monotonicS();

    /** The clock of this machine. */
    Clock SYSTEM =
            new Clock() {
                @Override
                public double nowS() {
                    return System.currentTimeMillis() / 1e3;
                }

                @Override
                public double monotonicS() {
                    return System.nanoTime() / 1e9;
                }
            };
}
