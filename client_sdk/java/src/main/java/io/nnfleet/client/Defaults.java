package io.nnfleet.client;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What an app ships: for every model the arms to try, in order, when no document says better. The last must work. */
public final class Defaults {
    private final Map<String, List<Rung>> ladders = new HashMap<>();

    /** Adds an arm under a model's others; {@code arm} as in a decision document's {@code arms}. */
    public Defaults arm(String model, String armId, Map<String, ?> arm) {
        List<Rung> ladder = ladders.get(model);
        if (ladder == null) {
            ladder = new ArrayList<>();
            ladders.put(model, ladder);
        }
        ladder.add(new Rung(armId, Collections.unmodifiableMap(new HashMap<String, Object>(arm))));
        return this;
    }

    /** Adds LiteRT on the CPU. */
    public Defaults cpu(String model, String armId) {
        Map<String, String> arm = new HashMap<>();
        arm.put("runtime", "litert");
        arm.put("delegate", "cpu");
        return arm(model, armId, arm);
    }

    Map<String, List<Rung>> frozen() {
        if (ladders.isEmpty()) {
            throw new NnfleetClientException.InvalidDefault("a bundled default names at least one model, and an arm for it");
        }
        Map<String, List<Rung>> copy = new HashMap<>();
        for (Map.Entry<String, List<Rung>> ladder : ladders.entrySet()) {
            copy.put(ladder.getKey(), new ArrayList<>(ladder.getValue()));
        }
        return copy;
    }
}
