package io.nnfleet.client;

import java.util.Random;
import java.util.UUID;

/** Record ids: UUID version 7 (RFC 9562 §5.7), from a time and a randomness that are passed in. */
final class RecordId {
    private RecordId() {}

    /** A new id: 48 bits of Unix milliseconds, then 74 random bits. Ids sort by time to the millisecond. */
    static String at(double nowS, Random random) {
        long unixMs = (long) Math.floor(nowS * 1000);
        long high = unixMs << 16 | 0x7000L | random.nextInt(1 << 12);
        long low = 2L << 62 | random.nextLong() >>> 2;
        return new UUID(high, low).toString();
    }
}
