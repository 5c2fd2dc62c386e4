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
 * a phone may reboot once, not every morning. The last arm of a ladder, below which there is nothing, is kept off only where
 * three starts in a row never ended, and then for ten minutes, doubled likewise, at most a day. With a folder the starts are on
 * disk before the driver is touched; without one they live as long as this object.
 */
final class Suspects {
    private static final String SUSPECTS_FILE = "suspects.json";
    private static final byte[] NOTHING = "{}".getBytes(Json.UTF_8);
    // What NNAPI and binder say when the driver's process is gone: every model on that accelerator is affected.
    private static final List<String> DRIVER_DEATHS =
            Collections.unmodifiableList(Arrays.asList("ANEURALNETWORKS_DEAD_OBJECT", "DEAD_OBJECT"));

    private final String reportId;
    private final File file;
    private final Set<String> failed = new HashSet<>();
    private final Set<String> deadDrivers = new HashSet<>();
    private final Map<String, Suspicion> suspicions = new HashMap<>();
    private final List<String> forgiven = new ArrayList<>();
    // Starts going on right now, in other threads too: no reason to suspect, as long as they go on.
    private final Map<String, Integer> running = new HashMap<>();

    /** {@code endedFromOutside} says that the process before was: its unfinished starts are held against nobody. */
    Suspects(String reportId, File folder, boolean endedFromOutside) {
        this.reportId = reportId;
        this.file = folder == null ? null : new File(folder, SUSPECTS_FILE);
        settle(loaded(), endedFromOutside);
    }

    /** Marks of starts that a process could not end because it was ended from outside: not to be sent. */
    List<String> forgiven() {
        return forgiven;
    }

    /** True where this rung, the last of its ladder or not, is to be passed over at this wall-clock moment. */
    synchronized boolean excludes(String model, Rung rung, double nowS, boolean last) {
        String key = key(model, rung);
        Suspicion suspicion = runningNow(key) == 0 ? suspicions.get(key) : null;
        if (last) {
            return suspicion != null && suspicion.holdsTheLast(nowS);
        }
        boolean suspected = suspicion != null && suspicion.holds(nowS);
        return suspected || failed.contains(key) || deadDrivers.contains(driver(rung));
    }

    /**
     * Notes a start before it is made. Until {@code ended}, the next process suspects the arm. {@code attemptId} is its mark's,
     * null where it has none.
     */
    synchronized void started(String model, Rung rung, double nowS, String attemptId) {
        String key = key(model, rung);
        running.put(key, runningNow(key) + 1);
        if (runningNow(key) == 1) {
            suspicions.put(key, Suspicion.after(suspicions.get(key), nowS, attemptId));
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
        if (runningNow(key) == 0) {
            Suspicion held = suspicions.remove(key);
            keep(key, held == null ? null : held.before());
            save();
        }
    }

    /** Notes that a start will have no end: from here on the arm is under suspicion in this process too. */
    synchronized void abandoned(String model, Rung rung) {
        String key = key(model, rung);
        running.put(key, runningNow(key) - 1);
        if (runningNow(key) == 0 && suspicions.containsKey(key)) {
            suspicions.put(key, suspicions.get(key).closed());
            save();
        }
    }

    // Arms of documents and drivers that are long gone would stay in the file for ever.
    private void forgetOldOnes(double nowS) {
        for (Iterator<Suspicion> each = suspicions.values().iterator(); each.hasNext(); ) {
            if (nowS >= each.next().untilS + Suspicion.MOST_HOLD_S) {
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
            raw.put(each.getKey(), each.getValue().toJson());
        }
        AtomicFiles.write(file, Json.bytes(raw));
    }

    private void settle(Map<String, Suspicion> left, boolean endedFromOutside) {
        boolean unfinished = false;
        for (Map.Entry<String, Suspicion> each : left.entrySet()) {
            Suspicion held = each.getValue();
            unfinished |= held.open;
            if (held.open && endedFromOutside) {
                forgiven.add(held.attemptId);
                keep(each.getKey(), held.before());
            } else {
                keep(each.getKey(), held.closed());
            }
        }
        forgiven.removeAll(Collections.singleton(null));
        if (unfinished) {
            save(); // whatever ends this process, it is not what ended that one
        }
    }

    private void keep(String key, Suspicion held) {
        if (held != null) {
            suspicions.put(key, held);
        }
    }

    /** What the file holds; a damaged one suspects nobody. */
    private Map<String, Suspicion> loaded() {
        Map<String, Suspicion> found = new HashMap<>();
        byte[] content = file == null ? null : AtomicFiles.readOrNull(file);
        try {
            for (Map.Entry<String, Object> each : Json.object(content == null ? NOTHING : content).entrySet()) {
                found.put(each.getKey(), Suspicion.fromJson(each.getValue()));
            }
        } catch (JsonException damaged) {
            return new HashMap<>();
        }
        return found;
    }
}
