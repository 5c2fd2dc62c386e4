package io.nnfleet.client;

import java.io.File;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Arms this phone does not try again: dead in this process, or suspected of having killed an earlier one.
 *
 * <p>An arm that failed in this process stays out for its lifetime; a dead driver takes every arm on it along. A start that
 * was never followed by its end (the process died) keeps its arm out for a day, doubled each time in a row, at most 30 days:
 * a phone may reboot once, not every morning. With a folder the starts are on disk before the driver is touched; without one
 * they live as long as this object.
 */
final class Suspects {
    private static final String SUSPECTS_FILE = "suspects.json";
    private static final double HOLD_S = 86_400;
    private static final double MOST_HOLD_S = 30 * 86_400;
    private static final double CLOCK_SLACK_S = 60;
    // What NNAPI and binder say when the driver's process is gone: every model on that accelerator is affected.
    private static final List<String> DRIVER_DEATHS =
            Collections.unmodifiableList(Arrays.asList("ANEURALNETWORKS_DEAD_OBJECT", "DEAD_OBJECT"));

    private final String reportId;
    private final File file;
    private final Set<String> failed = new HashSet<>();
    private final Set<String> deadDrivers = new HashSet<>();
    private final Map<String, Suspicion> suspicions = new HashMap<>();
    private final Map<String, Suspicion> heldBefore = new HashMap<>();
    // Starts going on right now, in other threads too: no reason to suspect, as long as they go on.
    private final Map<String, Integer> running = new HashMap<>();

    Suspects(String reportId, File folder) {
        this.reportId = reportId;
        this.file = folder == null ? null : new File(folder, SUSPECTS_FILE);
        load();
    }

    /** A start that never ended, and how often in a row; held until a wall-clock moment. */
    private static final class Suspicion {
        final long crashes;
        final double untilS;

        Suspicion(long crashes, double untilS) {
            this.crashes = crashes;
            this.untilS = untilS;
        }

        /** Until its end. One that ends later than it can have been meant to was written before the clock was set. */
        boolean holds(double nowS) {
            return nowS < untilS && untilS <= nowS + holdS(crashes) + CLOCK_SLACK_S;
        }
    }

    /** How long an arm is kept off after so many starts in a row that never ended. */
    private static double holdS(long crashes) {
        return Math.min(MOST_HOLD_S, HOLD_S * Math.pow(2, Math.min(crashes - 1, 10)));
    }

    /** True where this rung is to be passed over at this wall-clock moment. */
    synchronized boolean excludes(String model, Rung rung, double nowS) {
        String key = key(model, rung);
        Suspicion suspicion = suspicions.get(key);
        boolean suspected = suspicion != null && suspicion.holds(nowS) && runningNow(key) == 0;
        return suspected || failed.contains(key) || deadDrivers.contains(driver(rung));
    }

    /** Notes a start before it is made. Until {@code ended}, the next process suspects the arm. */
    synchronized void started(String model, Rung rung, double nowS) {
        String key = key(model, rung);
        running.put(key, runningNow(key) + 1);
        if (runningNow(key) == 1) {
            Suspicion before = suspicions.get(key);
            long crashes = before == null ? 1 : before.crashes + 1;
            heldBefore.put(key, before);
            suspicions.put(key, new Suspicion(crashes, nowS + holdS(crashes)));
            forgetOldOnes(nowS);
            save();
        }
    }

    /** Notes that a start came to an end the process survived; with a failure (phase:code) the arm stays out. */
    synchronized void ended(String model, Rung rung, String failure) {
        String key = key(model, rung);
        running.put(key, runningNow(key) - 1);
        if (runningNow(key) == 0) {
            running.remove(key);
            suspicions.remove(key);
            heldBefore.remove(key);
            save();
        }
        if (failure != null) {
            failed.add(key);
            if (DRIVER_DEATHS.contains(failure.substring(failure.indexOf(':') + 1)) && driver(rung) != null) {
                deadDrivers.add(driver(rung));
            }
        }
    }

    /** Notes that a start was called off from outside: what was held against the arm before still is, and nothing more. */
    synchronized void withdrawn(String model, Rung rung) {
        String key = key(model, rung);
        running.put(key, runningNow(key) - 1);
        if (runningNow(key) > 0) {
            return;
        }
        suspicions.remove(key);
        Suspicion before = heldBefore.remove(key);
        if (before != null) {
            suspicions.put(key, before);
        }
        save();
    }

    /** Notes that a start will have no end: from here on the arm is under suspicion in this process too. */
    synchronized void abandoned(String model, Rung rung) {
        String key = key(model, rung);
        running.put(key, runningNow(key) - 1);
    }

    // Arms of documents and drivers that are long gone would stay in the file for ever.
    private void forgetOldOnes(double nowS) {
        for (Iterator<Suspicion> each = suspicions.values().iterator(); each.hasNext(); ) {
            if (nowS >= each.next().untilS + MOST_HOLD_S) {
                each.remove();
            }
        }
    }

    private int runningNow(String key) {
        Integer count = running.get(key);
        return count == null ? 0 : count;
    }

    // Another driver (the report), another file or other settings: another arm, which deserves its own chance.
    private String key(String model, Rung rung) {
        List<Object> parts = new ArrayList<>(Arrays.<Object>asList(reportId, model, rung.armId));
        parts.add(new TreeMap<>(rung.arm));
        return Digests.sha256Hex(Json.bytes(parts));
    }

    /** Null where the arm names no accelerator. */
    private static String driver(Rung rung) {
        Object accelerator = rung.arm.get("accelerator");
        return accelerator == null ? null : rung.arm.get("delegate") + ":" + accelerator;
    }

    private void save() {
        if (file == null) {
            return;
        }
        Map<String, Object> raw = new TreeMap<>();
        for (Map.Entry<String, Suspicion> each : suspicions.entrySet()) {
            raw.put(each.getKey(), Arrays.<Object>asList(each.getValue().crashes, each.getValue().untilS));
        }
        AtomicFiles.write(file, Json.bytes(raw));
    }

    private void load() {
        byte[] content = file == null ? null : AtomicFiles.readOrNull(file);
        if (content == null) {
            return;
        }
        try {
            for (Map.Entry<String, Object> each : Json.object(content).entrySet()) {
                List<Object> pair = Json.list(each.getValue());
                if (pair.size() == 2) {
                    suspicions.put(each.getKey(), new Suspicion(Json.whole(pair.get(0)), Json.number(pair.get(1))));
                }
            }
        } catch (JsonException damaged) {
            suspicions.clear(); // a damaged file suspects nobody
        }
    }
}
