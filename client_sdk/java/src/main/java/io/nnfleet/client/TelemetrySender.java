package io.nnfleet.client;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.ReentrantLock;
import java.util.zip.GZIPOutputStream;

/**
 * Empties a buffer towards the server, with the same record ids at every retry: batches, verdicts, patience. Nothing
 * acknowledged is sent again, nothing else is forgotten.
 */
final class TelemetrySender {
    private static final int MOST_BATCH_RECORDS = 2_000;
    private static final int MOST_COMPRESSED_BYTES = 1024 * 1024;
    private static final int MOST_INFLATED_BYTES = 16 * 1024 * 1024;
    // One flush may isolate a few records that the server cannot take, not hammer it with halves for ever.
    private static final int MOST_REQUESTS = 64;
    private static final String TOO_BIG = "too_big";
    private static final String REFUSED = "refused";

    private final Buffer buffer;
    private final Transport transport;
    private final Clock clock;
    private final Backoff backoff;
    private final DecisionFetcher fetcher;
    private final ReentrantLock sending = new ReentrantLock();
    private int batchRecords = MOST_BATCH_RECORDS;
    private boolean uploaded;
    private String lastError;

    TelemetrySender(Buffer buffer, Transport transport, Clock clock, Random random, DecisionFetcher fetcher) {
        this.buffer = buffer;
        this.transport = transport;
        this.clock = clock;
        this.backoff = new Backoff(random);
        this.fetcher = fetcher;
    }

    /**
     * Sends what waits, batch after batch, until nothing waits or something fails. Does nothing while cooling down. Never
     * throws for any answer.
     */
    Flushed flush() {
        Flushed flushed = new Flushed();
        if (waitS() == 0 && sending.tryLock()) {
            try {
                sendAll(flushed);
            } finally {
                sending.unlock();
            }
        }
        flushed.errorCode = lastError;
        flushed.waiting = buffer.size();
        flushed.waitS = waitS();
        return flushed;
    }

    private void sendAll(Flushed flushed) {
        lastError = null;
        uploaded = false;
        for (int requests = 0; requests < MOST_REQUESTS && lastError == null; requests++) {
            List<Buffer.Waiting> batch = buffer.nextBatch(batchRecords, MOST_INFLATED_BYTES);
            if (batch.isEmpty()) {
                return;
            }
            lastError = send(batch, flushed);
        }
    }

    private String send(List<Buffer.Waiting> batch, Flushed flushed) {
        byte[] body = zipped(batch);
        if (body.length > MOST_COMPRESSED_BYTES) {
            return narrow(batch, flushed, TOO_BIG, null);
        }
        Answer answer = transport.postTelemetry(body);
        if (answer.status == 200 || answer.status == 202) {
            return apply(answer, batch, flushed);
        }
        if (answer.status == 413) {
            return narrow(batch, flushed, TOO_BIG, answer.problem().get("limit_items"));
        }
        if ((answer.status == 400 || answer.status == 422) && !answer.problem().isEmpty()) {
            return narrow(batch, flushed, REFUSED, null);
        }
        return fail(answer, answer.failureCode());
    }

    private String apply(Answer answer, List<Buffer.Waiting> batch, Flushed flushed) {
        List<String> sent = new ArrayList<>();
        for (Buffer.Waiting waiting : batch) {
            sent.add(waiting.recordId);
        }
        Verdicts verdicts = Verdicts.read(answer.body, sent);
        if (verdicts == null) {
            return fail(answer, "unreadable-verdicts");
        }
        flushed.accepted += (int) verdicts.accepted;
        flushed.duplicate += (int) verdicts.duplicate;
        flushed.setAside += verdicts.setAside.size();
        flushed.rejected += verdicts.rejected.size();
        if (verdicts.total() < batch.size()) {
            // Some records got no verdict and no name: keeping too many is safe, the server knows a duplicate.
            buffer.remove(verdicts.setAside);
            buffer.remove(verdicts.rejected);
            return fail(answer, "verdicts-missing");
        }
        return settle(verdicts, sent, answer, flushed);
    }

    private String settle(Verdicts verdicts, List<String> sent, Answer answer, Flushed flushed) {
        if (!verdicts.unheard.isEmpty() && !uploaded) {
            sent.removeAll(verdicts.unheard);
            buffer.remove(sent);
            uploaded = fetcher.uploadReport();
            return uploaded ? null : fail(answer, DecisionFetcher.UNKNOWN_REPORT);
        }
        flushed.rejected += verdicts.unheard.size();
        buffer.remove(sent);
        backoff.success();
        widen();
        return null;
    }

    /** Sends less at once, down to a single record; one that does not go alone is given up. */
    private String narrow(List<Buffer.Waiting> batch, Flushed flushed, String why, Object limitItems) {
        if (batch.size() == 1) {
            buffer.drop(batch.get(0).recordId, why);
            flushed.dropped++;
            widen();
            return null;
        }
        int half = batch.size() / 2;
        boolean told = limitItems instanceof Long && (Long) limitItems > 0;
        batchRecords = told ? (int) Math.min(half, (Long) limitItems) : half;
        return null;
    }

    private void widen() {
        batchRecords = Math.min(MOST_BATCH_RECORDS, batchRecords * 2);
    }

    private String fail(Answer answer, String code) {
        backoff.failure(clock.monotonicS(), Headers.retryAfterS(answer, clock.nowS()));
        return code;
    }

    private double waitS() {
        return backoff.waitS(clock.monotonicS());
    }

    private static byte[] zipped(List<Buffer.Waiting> batch) {
        List<byte[]> lines = new ArrayList<>();
        for (Buffer.Waiting waiting : batch) {
            lines.add(waiting.line);
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (GZIPOutputStream zip = new GZIPOutputStream(out)) {
            zip.write(Spool.joined(lines));
        } catch (IOException impossible) {
            throw new IllegalStateException(impossible); // memory does not refuse
        }
        return out.toByteArray();
    }
}
