package io.nnfleet.client;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The paper trail of one walk: a mark before every start, a window after every end. The suspicion is always written; the
 * attempt's mark and the window only where this use is sampled, both or neither, so that the share of unfinished starts stays
 * what it is in the fleet.
 */
final class UseWitness implements Witness {
    /** Where a client's starts and ends are noted. */
    static final class Notebook {
        final ObservationWriter writer;
        final Buffer buffer;
        final Suspects suspects;
        final Clock clock;

        Notebook(ObservationWriter writer, Buffer buffer, Suspects suspects, Clock clock) {
            this.writer = writer;
            this.buffer = buffer;
            this.suspects = suspects;
            this.clock = clock;
        }
    }

    private final Notebook notebook;
    private final Plan plan;
    private final Circumstances now;
    private final Conditions conditions;
    private final boolean sampled;
    private Trial open;
    private String openAttemptId;

    UseWitness(Notebook notebook, Plan plan, Circumstances now, Conditions conditions, boolean sampled) {
        this.notebook = notebook;
        this.plan = plan;
        this.now = now;
        this.conditions = conditions;
        this.sampled = sampled;
    }

    @Override
    public boolean excludes(Rung rung, boolean last) {
        return notebook.suspects.excludes(plan.model, rung, notebook.clock.nowS(), last);
    }

    @Override
    public void starting(Rung rung, List<String> passedOver) {
        Map<String, Object> before = conditionsNow();
        double propensity = plan.servedPropensity(rung.armId, passedOver);
        open = new Trial(plan, rung, propensity, now.workload, before.isEmpty() ? known() : before);
        Map<String, Object> mark = sampled ? notebook.writer.attempt(open) : null;
        openAttemptId = mark == null ? null : (String) mark.get("record_id");
        notebook.suspects.started(plan.model, rung, notebook.clock.nowS(), openAttemptId);
        if (mark != null) {
            notebook.buffer.add(mark, true);
        }
    }

    @Override
    public void ended(Rung rung, Window window, boolean fell) {
        String failure = window.failure != null || window.isGood() ? window.failure : "golden:failed";
        notebook.suspects.ended(plan.model, rung, failure);
        if (sampled) {
            notebook.buffer.add(notebook.writer.window(open, window, openAttemptId, conditionsNow(), fell), false);
            notebook.buffer.settle(openAttemptId);
        }
        open = null;
        openAttemptId = null;
    }

    /** Takes back a start that was called off from outside: no fault of the arm, and no crash. */
    void withdraw() {
        if (open == null) {
            return;
        }
        notebook.suspects.withdrawn(plan.model, open.rung);
        if (openAttemptId != null) {
            notebook.buffer.remove(Collections.singletonList(openAttemptId));
        }
        open = null;
    }

    /** Leaves the mark of a start that never ended to be sent; nothing to do after a walk that came back. */
    void letGo() {
        if (open == null) {
            return;
        }
        notebook.suspects.abandoned(plan.model, open.rung);
        if (openAttemptId != null) {
            notebook.buffer.release(openAttemptId);
        }
        open = null;
    }

    private Map<String, Object> conditionsNow() {
        return conditions == null ? Collections.<String, Object>emptyMap() : conditions.now();
    }

    private Map<String, Object> known() {
        Map<String, Object> known = new LinkedHashMap<>();
        known.put("thermal_status", now.thermal == null ? null : now.thermal.ordinal());
        known.put("battery_saver", now.batterySaver);
        return known;
    }
}
