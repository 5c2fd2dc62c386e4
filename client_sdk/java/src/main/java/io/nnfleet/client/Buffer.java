package io.nnfleet.client;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Observations waiting to be sent: bounded in count and bytes, so that an outage never eats the phone. First in, first out.
 * When full, the oldest windows go first and are counted; marks of starts go last.
 *
 * <p>Records read back from the spool are all free to be sent: the process that held them is gone. A mark whose window is
 * there too is not taken up again.
 */
final class Buffer {
    // Rewriting the spool at every drop would write megabytes a record; at twice the bytes needed it is cheap.
    private static final int SPOOL_SLACK_BYTES = 64 * 1024;

    private final Spool spool;
    private final int mostRecords;
    private final int mostBytes;
    private final Map<String, Waiting> waiting = new LinkedHashMap<>();
    private final Map<String, Integer> dropped = new HashMap<>();
    private int sizeBytes;
    private volatile int count; // read by an app's main thread, which must not wait for a disk

    Buffer(Spool spool, int mostRecords, int mostBytes) {
        this.spool = spool;
        this.mostRecords = mostRecords;
        this.mostBytes = mostBytes;
        readBack();
    }

    /** A record in the bytes it will be sent in. A held one (the mark of a start still going on) is not sent. */
    static final class Waiting {
        final String recordId;
        final String kind;
        final byte[] line;
        boolean held;

        Waiting(String recordId, String kind, byte[] line, boolean held) {
            this.recordId = recordId;
            this.kind = kind;
            this.line = line;
            this.held = held;
        }
    }

    int size() {
        return count;
    }

    /** Records given up, by why: {@code window} and {@code attempt} (buffer full), {@code too_big}, {@code refused}. */
    synchronized Map<String, Integer> dropped() {
        return new HashMap<>(dropped);
    }

    /** Puts a record at the end, dropping what no longer fits. A mark is on disk when this returns. */
    synchronized void add(Map<String, Object> record, boolean held) {
        byte[] line = Json.bytes(record);
        Waiting added = new Waiting((String) record.get("record_id"), (String) record.get("kind"), line, held);
        spool.append(line, added.kind.equals(ObservationWriter.ATTEMPT));
        put(added);
        if (spool.sizeBytes() > 2L * sizeBytes + SPOOL_SLACK_BYTES) {
            rewrite();
        }
    }

    /** Lets a held mark go: its process did not live to write the window. */
    synchronized void release(String recordId) {
        Waiting mark = waiting.get(recordId);
        if (mark != null) {
            mark.held = false;
        }
    }

    /** Forgets a held mark that its window has followed. One line on disk follows the other, so nothing is rewritten. */
    synchronized void settle(String recordId) {
        take(recordId);
    }

    /** The oldest records that are free to go, at least one if there is any, within both limits. */
    synchronized List<Waiting> nextBatch(int mostBatchRecords, int mostBatchBytes) {
        List<Waiting> batch = new ArrayList<>();
        int batchBytes = 0;
        for (Waiting next : waiting.values()) {
            if (next.held) {
                continue;
            }
            batchBytes += next.line.length + 1;
            if (!batch.isEmpty() && (batch.size() >= mostBatchRecords || batchBytes > mostBatchBytes)) {
                break;
            }
            batch.add(next);
        }
        return batch;
    }

    /** Forgets records that need not be sent again. */
    synchronized void remove(Collection<String> recordIds) {
        for (String recordId : recordIds) {
            take(recordId);
        }
        rewrite();
    }

    /** Gives a record up, and counts it under {@code why}. */
    synchronized void drop(String recordId, String why) {
        take(recordId);
        rewrite();
        countDropped(why);
    }

    private void put(Waiting added) {
        waiting.put(added.recordId, added);
        sizeBytes += added.line.length;
        while (waiting.size() > mostRecords || sizeBytes > mostBytes) {
            Waiting oldest = oldestToDrop();
            take(oldest.recordId);
            countDropped(oldest.kind);
        }
        count = waiting.size();
    }

    private Waiting oldestToDrop() {
        for (Waiting candidate : waiting.values()) {
            if (!candidate.kind.equals(ObservationWriter.ATTEMPT)) {
                return candidate;
            }
        }
        return waiting.values().iterator().next();
    }

    private void take(String recordId) {
        Waiting taken = waiting.remove(recordId);
        sizeBytes -= taken == null ? 0 : taken.line.length;
        count = waiting.size();
    }

    private void countDropped(String why) {
        Integer before = dropped.get(why);
        dropped.put(why, before == null ? 1 : before + 1);
    }

    private void rewrite() {
        List<byte[]> lines = new ArrayList<>();
        for (Waiting kept : waiting.values()) {
            lines.add(kept.line);
        }
        spool.rewrite(lines);
    }

    private void readBack() {
        List<Waiting> found = new ArrayList<>();
        Set<Object> followed = new HashSet<>();
        for (byte[] line : spool.read()) {
            try {
                Map<String, Object> record = Json.object(line);
                found.add(new Waiting(Json.text(record.get("record_id")), Json.text(record.get("kind")), line, false));
                followed.add(record.get("attempt_id"));
            } catch (JsonException torn) {
                continue; // by a crash, or not ours
            }
        }
        for (Waiting record : found) {
            if (!followed.contains(record.recordId)) {
                put(record);
            }
        }
    }
}
