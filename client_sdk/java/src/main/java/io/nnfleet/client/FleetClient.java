package io.nnfleet.client;

import java.io.Closeable;
import java.io.File;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * Asks once, walks the ladder, reports what really ran.
 *
 * <p>{@link #decision} and {@link #use} never touch the network: they answer from the last good document, else from the
 * bundled default, and say which. {@link #refresh} and {@link #flush} do, when the app (or a {@link Poller}) calls them;
 * neither throws for anything a network or a server does. No thread is started.
 */
public final class FleetClient implements Closeable {
    private static final double DEFAULT_FLUSH_S = 3_600;

    private final String reportId;
    private final Clock clock;
    private final Random random;
    private final Planner planner;
    private final DecisionStore store;
    private final DecisionFetcher fetcher;
    private final Buffer buffer;
    private final TelemetrySender sender;
    private final UseWitness.Notebook notebook;
    private final Room room;

    private FleetClient(Builder builder) {
        reportId = Report.id(builder.report);
        clock = builder.clock;
        random = builder.random;
        planner = new Planner(builder.defaults.frozen(), builder.unitId);
        room = new Room(builder.folder);
        store = new DecisionStore(builder.app, reportId, room.folder());
        Seal seal = new Seal(reportId, builder.trustedKeys);
        fetcher = new DecisionFetcher(builder.app, builder.report, store, seal, builder.transport, clock, random);
        buffer = new Buffer(new Spool(room.folder()), builder.bufferRecords, builder.bufferBytes);
        sender = new TelemetrySender(buffer, builder.transport, clock, random, fetcher);
        ObservationWriter writer = new ObservationWriter(reportId, builder.app, builder.appVersion, clock, random);
        Suspects suspects = new Suspects(reportId, room.folder(), builder.endedFromOutside);
        if (!suspects.forgiven().isEmpty()) {
            buffer.remove(suspects.forgiven());
        }
        notebook = new UseWitness.Notebook(writer, buffer, suspects, clock);
    }

    /**
     * A client of one app on one phone. {@code report} is the probe's report in the exact bytes to upload. {@code defaults}
     * is what the app ships for the time before the first document.
     */
    public static Builder builder(String app, byte[] report, Transport transport, Defaults defaults) {
        return new Builder(app, report.clone(), transport, defaults);
    }

    /** The digest of the report. */
    public String reportId() {
        return reportId;
    }

    /** What the server wants the app to show (a driver switched off, say); empty without a usable document. */
    public List<Object> advice() {
        DecisionDocument document = store.standing(clock.nowS()).document;
        return document == null ? Collections.emptyList() : document.advice;
    }

    /** What the server would like another probe to find out ({@code runtimes.neuron}); to do so is optional. */
    public List<Object> probe() {
        DecisionDocument document = store.standing(clock.nowS()).document;
        return document == null ? Collections.emptyList() : document.probe;
    }

    /** Seconds between two flushes that the document asks for; an hour without one. */
    public double flushS() {
        DecisionDocument document = store.standing(clock.nowS()).document;
        return document == null ? DEFAULT_FLUSH_S : document.flushS;
    }

    /** Observations given up since the start, by why: window and attempt (buffer full), too_big, refused. */
    public Map<String, Integer> dropped() {
        return buffer.dropped();
    }

    /** Observations not yet acknowledged. */
    public int waiting() {
        return buffer.size();
    }

    /** Fetches the decision if it is time to. Safe to call as often as one likes. */
    public Refresh refresh() {
        return fetcher.refresh(false);
    }

    /** The same, even while the document is fresh; not while cooling down after a failure. */
    public Refresh refreshNow() {
        return fetcher.refresh(true);
    }

    /** Sends waiting observations if it is allowed. */
    public Flushed flush() {
        return sender.flush();
    }

    /**
     * The plan for a model now, from memory. Within max-age of the last 200 or 304 its reason is FRESH or NOT_MODIFIED;
     * later, and through any outage, STALE; past the document's expiry, or with an empty cache, DEFAULT. Throws UnknownModel
     * for a model that neither document nor default knows.
     */
    public Plan decision(String model, Circumstances now) {
        Plan plan = planner.choose(store.standing(clock.nowS()), model, now);
        String lastError = fetcher.lastError();
        return lastError == null ? plan : plan.withErrorCode(lastError);
    }

    /**
     * Walks the plan's ladder, makes the runs, buffers a window for every arm that was tried. A ladder that fails to its last
     * rung is followed by the bundled default's. {@code conditions} may be null; it is asked before and after every arm.
     * Throws UnknownModel; lets through what the runner throws beside ArmFailed and RunTimeout, and then leaves the
     * attempt's mark to be sent. Only a use that is called off from outside (CalledOff) leaves none: nothing is held against
     * its arm.
     */
    public Outcome use(String model, Runner runner, long runs, Circumstances now, Conditions conditions) {
        Plan plan = decision(model, now);
        boolean sampled = random.nextDouble() < sample();
        List<Step> steps = new ArrayList<>();
        for (Plan candidate : andDefault(plan)) {
            UseWitness witness = new UseWitness(notebook, candidate, now, conditions, sampled);
            try {
                steps.addAll(Ladder.walk(candidate, runner, runs - runsMade(steps), witness));
            } catch (NnfleetClientException.CalledOff calledOff) {
                witness.withdraw();
                throw calledOff;
            } finally {
                witness.letGo();
            }
            Step last = steps.get(steps.size() - 1);
            if (last.ending == Step.Ending.RAN) {
                return new Outcome(candidate, last.armId, steps);
            }
        }
        return new Outcome(plan, null, steps);
    }

    /** Leaves the folder to the next client. Sends nothing; the client is not to be used again. */
    @Override
    public void close() {
        room.close();
    }

    private List<Plan> andDefault(Plan plan) {
        List<Plan> plans = new ArrayList<>();
        plans.add(plan);
        if (plan.reason != Reason.DEFAULT && planner.hasDefault(plan.model)) {
            plans.add(planner.defaultPlan(plan.model, "ladder-exhausted"));
        }
        return plans;
    }

    private double sample() {
        DecisionDocument document = store.standing(clock.nowS()).document;
        return document == null ? 1 : document.telemetrySample;
    }

    private static long runsMade(List<Step> steps) {
        long made = 0;
        for (Step step : steps) {
            made += step.window == null ? 0 : step.window.count;
        }
        return made;
    }

    /** What most apps leave as it is. */
    public static final class Builder {
        private final String app;
        private final byte[] report;
        private final Transport transport;
        private final Defaults defaults;
        private final Map<String, byte[]> trustedKeys = new HashMap<>();
        private String unitId;
        private File folder;
        private String appVersion;
        private int bufferRecords = 10_000;
        private int bufferBytes = 4 * 1024 * 1024;
        private boolean endedFromOutside;
        private Clock clock = Clock.SYSTEM;
        private Random random = new SecureRandom();

        private Builder(String app, byte[] report, Transport transport, Defaults defaults) {
            this.app = app;
            this.report = report;
            this.transport = transport;
            this.defaults = defaults;
        }

        /** The random id kept on this phone; hashed here, never sent. Throws InvalidUnitId. */
        public Builder unitId(String unitId) {
            this.unitId = Assign.normaliseUnitId(unitId);
            return this;
        }

        /**
         * Where the last good document, unsent observations and unfinished starts survive a restart; without it all three
         * are in memory. One folder belongs to one app on one phone, and serves one client at a time: another one, in this
         * process or another, has a room of its own in it.
         */
        public Builder folder(File folder) {
            this.folder = folder;
            return this;
        }

        public Builder appVersion(String appVersion) {
            this.appVersion = appVersion;
            return this;
        }

        /** Bounds of the unsent observations. */
        public Builder buffer(int mostRecords, int mostBytes) {
            this.bufferRecords = mostRecords;
            this.bufferBytes = mostBytes;
            return this;
        }

        /** With any key, a document without a good signature is refused; without any, signatures are not looked at. */
        public Builder trustedKey(String keyId, byte[] ed25519PublicKey) {
            trustedKeys.put(keyId, ed25519PublicKey.clone());
            return this;
        }

        /**
         * The system says that the process before this one was ended by its user, for its memory or by an update (Android's
         * ApplicationExitInfo): then its unfinished starts are no crashes.
         */
        public Builder endedFromOutside(boolean endedFromOutside) {
            this.endedFromOutside = endedFromOutside;
            return this;
        }

        public Builder clock(Clock clock) {
            this.clock = clock;
            return this;
        }

        public Builder random(Random random) {
            this.random = random;
            return this;
        }

        /** Reads the folder: not on the main thread. Throws InvalidDefault where the bundled default names no model. */
        public FleetClient build() {
            return new FleetClient(this);
        }
    }
}
