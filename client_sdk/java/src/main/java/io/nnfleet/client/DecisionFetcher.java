package io.nnfleet.client;

import java.util.Random;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Keeps a store fresh: asks with its ETag, uploads the report once where it is unknown, backs off on failure. The only
 * conversation between transport and store.
 */
final class DecisionFetcher {
    static final String UNKNOWN_REPORT = "unknown-report";

    // Phones that fetched together (a release, an app update) must not return together.
    private static final double FRESHNESS_JITTER = 0.1;

    private final String app;
    private final String reportId;
    private final byte[] report;
    private final DecisionStore store;
    private final Seal seal;
    private final Transport transport;
    private final Clock clock;
    private final Random random;
    private final Backoff backoff;
    private final ReentrantLock asking = new ReentrantLock();
    private volatile double linger;
    private volatile String lastError;

    DecisionFetcher(
            String app, byte[] report, DecisionStore store, Seal seal, Transport transport, Clock clock, Random random) {
        this.app = app;
        this.reportId = Report.id(report);
        this.report = report;
        this.store = store;
        this.seal = seal;
        this.transport = transport;
        this.clock = clock;
        this.random = random;
        this.backoff = new Backoff(random);
    }

    /** The code of the last attempt's failure; null after a success. */
    String lastError() {
        return lastError;
    }

    /**
     * Asks the server where it is time to. Does nothing while the document is fresh (unless forced) or while cooling down
     * after a failure (always). On 200 the store applies the document or refuses it; on 304 or 204 it is fresh again; on 404
     * {@code unknown-report} the report is uploaded and the question asked once more. Anything else — 401, 403, 5xx, no
     * network, garbage — leaves the last good document in place and starts the cool-down. Never throws for any answer.
     */
    Refresh refresh(boolean force) {
        if (!asking.tryLock()) {
            return outcome(false); // another thread is asking right now
        }
        boolean due;
        try {
            due = isDue(force);
            if (due) {
                Answer answer = ask();
                lastError = apply(answer);
                note(answer);
            }
        } finally {
            asking.unlock();
        }
        return outcome(due);
    }

    /** Uploads the report; true where the server has it now. */
    boolean uploadReport() {
        return transport.putReport(reportId, report).worked();
    }

    private boolean isDue(boolean force) {
        return backoff.waitS(clock.monotonicS()) == 0 && (force || freshWaitS() == 0);
    }

    private Answer ask() {
        Answer answer = get();
        if (answer.status != 404 || !answer.failureCode().equals(UNKNOWN_REPORT)) {
            return answer;
        }
        Answer uploaded = transport.putReport(reportId, report);
        return uploaded.worked() ? get() : uploaded;
    }

    private Answer get() {
        return transport.getDecision(app, reportId, store.etag(clock.nowS()));
    }

    private String apply(Answer answer) {
        double nowS = clock.nowS();
        if (answer.status == 304 || answer.status == 204) {
            return store.confirm(Headers.freshForS(answer), nowS);
        }
        if (answer.status != 200) {
            return answer.failureCode();
        }
        String refusal = seal.refusal(answer.body, answer.header(Seal.HEADER), nowS);
        return refusal != null
                ? refusal
                : store.apply(answer.body, Headers.etag(answer), Headers.freshForS(answer), nowS);
    }

    private void note(Answer answer) {
        if (lastError == null) {
            linger = random.nextDouble();
            backoff.success();
        } else {
            backoff.failure(clock.monotonicS(), Headers.retryAfterS(answer, clock.nowS()));
        }
    }

    private double freshWaitS() {
        DecisionStore.Held held = store.held();
        double nowS = clock.nowS();
        if (held == null || nowS >= held.document.expiresAtS || nowS < held.confirmedAtS) {
            return 0;
        }
        double lifetimeS = held.freshForS * (1 + FRESHNESS_JITTER * linger);
        return Math.max(0, held.confirmedAtS + lifetimeS - nowS);
    }

    private Refresh outcome(boolean asked) {
        DecisionStore.Standing standing = store.standing(clock.nowS());
        double waitS = Math.max(backoff.waitS(clock.monotonicS()), freshWaitS());
        return new Refresh(asked, standing.reason, lastError != null ? lastError : standing.errorCode, waitS);
    }
}
