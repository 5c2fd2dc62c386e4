package io.nnfleet.client;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Latency as counts of logarithmic buckets: mergeable, with a stated error.
 *
 * <p>Bucket i holds latencies in (γ^(i−1), γ^i] microseconds, γ = 1.02; what lies at or under 1 µs is in bucket 0. A
 * quantile is the value 2γ^i/(γ+1) of its bucket, less than 1 % away from the recorded latency (Masson, Rim, Lee:
 * DDSketch, VLDB 2019).
 */
public final class Histogram {
    public static final double GAMMA = 1.02;

    // StrictMath: the same bucket on every phone.
    private static final double LOG_GAMMA = StrictMath.log(GAMMA);

    private long[] counts = new long[0];
    private long total;

    /** The bucket of a latency in microseconds. Throws IllegalArgumentException for a negative or non-finite one. */
    public static int bucketIndex(double latencyUs) {
        if (!(latencyUs >= 0 && latencyUs < Double.POSITIVE_INFINITY)) {
            throw new IllegalArgumentException("a latency of " + latencyUs + " µs");
        }
        return latencyUs > 1 ? (int) Math.ceil(StrictMath.log(latencyUs) / LOG_GAMMA) : 0;
    }

    /** The latency that stands for a bucket, in microseconds. */
    public static double bucketValueUs(int index) {
        return 2 * StrictMath.pow(GAMMA, index) / (GAMMA + 1);
    }

    /** Counts one latency, in microseconds. Throws IllegalArgumentException for a negative or non-finite one. */
    public void record(double latencyUs) {
        add(bucketIndex(latencyUs), 1);
    }

    /** A new histogram with the counts of both. */
    public Histogram merge(Histogram other) {
        Histogram merged = new Histogram();
        for (Histogram part : new Histogram[] {this, other}) {
            for (int index = 0; index < part.counts.length; index++) {
                if (part.counts[index] > 0) {
                    merged.add(index, part.counts[index]);
                }
            }
        }
        return merged;
    }

    /** How many latencies were recorded. */
    public long total() {
        return total;
    }

    /** Counts by bucket, in rising order. */
    public Map<Integer, Long> counts() {
        Map<Integer, Long> present = new LinkedHashMap<>();
        for (int index = 0; index < counts.length; index++) {
            if (counts[index] > 0) {
                present.put(index, counts[index]);
            }
        }
        return present;
    }

    /**
     * The latency at a quantile (0…1), upper rank: element ⌈quantile × total⌉ in rising order, at least the first. Throws
     * IllegalArgumentException for an empty histogram or a quantile outside 0…1.
     */
    public double quantileUs(double quantile) {
        if (!(quantile >= 0 && quantile <= 1) || total == 0) {
            throw new IllegalArgumentException("quantile " + quantile + " of " + total + " latencies");
        }
        long left = Math.max(1, (long) Math.ceil(quantile * total));
        int index = -1;
        while (left > 0) {
            left -= counts[++index];
        }
        return bucketValueUs(index);
    }

    /** The wire form: {@code {"gamma": 1.02, "counts": {"324": 12}}}. */
    Map<String, Object> toJson() {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("gamma", GAMMA);
        json.put("counts", counts());
        return json;
    }

    private void add(int index, long count) {
        if (index >= counts.length) {
            counts = Arrays.copyOf(counts, Math.max(index + 1, 2 * counts.length));
        }
        counts[index] += count;
        total += count;
    }
}
