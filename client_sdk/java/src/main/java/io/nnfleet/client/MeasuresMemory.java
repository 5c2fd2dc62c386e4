package io.nnfleet.client;

/** A session that knows its peak memory may say so. */
public interface MeasuresMemory {
    /** Peak resident memory of the session, in KiB. */
    long memoryPeakKb();
}
