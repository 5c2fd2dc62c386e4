package io.nnfleet.client;

/** One started arm. */
public interface Session {
    /** What the start cost; read after the runs, so a session may fill the first run late. */
    Init init();

    /** Who ran; read after the runs. */
    Executed executed();

    /** Runs once; the latency in microseconds. */
    long run() throws ArmFailed, RunTimeout;

    /** Checks outputs against the reference; null where there is none. */
    GoldenResult golden() throws ArmFailed, RunTimeout;

    /** Frees what the start took. */
    void close() throws ArmFailed, RunTimeout;
}
