package io.nnfleet.client;

/** Thrown by a runner: one run took longer than its limit. Counted apart, it never enters the latency histogram. */
public final class RunTimeout extends Exception {
    private static final long serialVersionUID = 1L;

    public RunTimeout(String message) {
        super(message);
    }
}
