package io.nnfleet.client;

import java.text.Normalizer;
import java.util.List;

/** From a unit id to a split: a salted hash on the phone, so that no id ever leaves it. */
public final class Assign {
    static final int BUCKETS = 10_000;
    static final String HASH_NAME = "murmur3-32/1";

    private Assign() {}

    /** How a split came to be the one served. */
    public enum AssignedBy {
        BUCKET,
        SINGLE_SPLIT,
        NO_UNIT,
        DEFAULT
    }

    /** The split served (its place in the plan), how it was found, and the bucket where one was computed. */
    static final class Assignment {
        final int splitIndex;
        final AssignedBy assignedBy;
        final Integer bucket;

        Assignment(int splitIndex, AssignedBy assignedBy, Integer bucket) {
            this.splitIndex = splitIndex;
            this.assignedBy = assignedBy;
            this.bucket = bucket;
        }
    }

    /**
     * The unit id in Unicode NFC, the only change made to it: spaces and case count. Throws InvalidUnitId for an empty id,
     * for control characters and for lone surrogates (no UTF-8).
     */
    public static String normaliseUnitId(String unitId) {
        String normal = Normalizer.normalize(unitId, Normalizer.Form.NFC);
        if (normal.isEmpty()) {
            throw new NnfleetClientException.InvalidUnitId("a unit id is empty");
        }
        for (int at = 0; at < normal.length(); at += Character.charCount(normal.codePointAt(at))) {
            int kind = Character.getType(normal.codePointAt(at));
            if (kind == Character.CONTROL || kind == Character.SURROGATE) {
                throw new NnfleetClientException.InvalidUnitId("a unit id holds control characters or lone surrogates");
            }
        }
        return normal;
    }

    /** 0…9999 for an already normalised unit id. */
    public static int bucketOf(String salt, String unitId) {
        long hash = murmur3((salt + ":" + unitId).getBytes(Json.UTF_8)) & 0xFFFFFFFFL;
        return (int) (hash * BUCKETS >>> 32);
    }

    /**
     * The split of one unit. Splits are cumulative, in order: raising the first one's weight keeps everyone already in
     * it. A split that holds the full weight needs no unit id. Without one nobody is drawn, and nobody is in a share that
     * grows, which stands first: the last split that does not explore is served, and NO_UNIT says so.
     */
    static Assignment assign(List<DecisionDocument.Split> splits, String salt, String unitId) {
        for (int index = 0; index < splits.size(); index++) {
            if (splits.get(index).weightBp == BUCKETS) {
                return new Assignment(index, AssignedBy.SINGLE_SPLIT, null);
            }
        }
        if (unitId == null) {
            return new Assignment(lastThatDoesNotExplore(splits), AssignedBy.NO_UNIT, null);
        }
        int bucket = bucketOf(salt, unitId);
        return new Assignment(splitAt(splits, bucket), AssignedBy.BUCKET, bucket);
    }

    static int splitAt(List<DecisionDocument.Split> splits, int bucket) {
        int index = 0;
        // Weights add up to 10,000, so a split always holds the bucket.
        for (long upper = splits.get(0).weightBp; bucket >= upper; upper += splits.get(index).weightBp) {
            index++;
        }
        return index;
    }

    private static int lastThatDoesNotExplore(List<DecisionDocument.Split> splits) {
        for (int index = splits.size() - 1; index >= 0; index--) {
            if (!splits.get(index).explore && splits.get(index).weightBp > 0) {
                return index;
            }
        }
        return 0;
    }

    /** MurmurHash3, x86, 32 bits, seed 0 (Austin Appleby, public domain algorithm). */
    static int murmur3(byte[] bytes) {
        int hash = 0;
        int whole = bytes.length / 4 * 4;
        for (int at = 0; at < whole; at += 4) {
            hash = Integer.rotateLeft(hash ^ scrambled(word(bytes, at, 4)), 13) * 5 + 0xE6546B64;
        }
        if (whole < bytes.length) {
            hash ^= scrambled(word(bytes, whole, bytes.length - whole));
        }
        hash ^= bytes.length;
        hash = (hash ^ hash >>> 16) * 0x85EBCA6B;
        hash = (hash ^ hash >>> 13) * 0xC2B2AE35;
        return hash ^ hash >>> 16;
    }

    private static int word(byte[] bytes, int at, int count) {
        int word = 0;
        for (int place = 0; place < count; place++) {
            word |= (bytes[at + place] & 0xFF) << 8 * place;
        }
        return word;
    }

    private static int scrambled(int word) {
        return Integer.rotateLeft(word * 0xCC9E2D51, 15) * 0x1B873593;
    }
}
