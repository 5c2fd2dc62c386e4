package io.nnfleet.client;

import java.util.List;
import java.util.Map;

/** Which plan holds right now: the first situation that matches, with no expression engine on the phone. */
final class Situations {
    private Situations() {}

    /** Name of the first matching situation's plan; null where even the last one asks for something. */
    static String matchingPlan(List<DecisionDocument.Situation> situations, Circumstances now) {
        for (DecisionDocument.Situation situation : situations) {
            if (matches(situation.when, now)) {
                return situation.plan;
            }
        }
        return null;
    }

    private static boolean matches(Map<String, Object> when, Circumstances now) {
        for (Map.Entry<String, Object> condition : when.entrySet()) {
            if (!holds(condition.getKey(), condition.getValue(), now)) {
                return false;
            }
        }
        return true;
    }

    // A key this client does not know fails its situation: what a newer server means by it cannot be guessed.
    private static boolean holds(String key, Object wanted, Circumstances now) {
        switch (key) {
            case "workload":
                return now.workload != null && now.workload.equals(wanted);
            case "thermal_at_least":
                Thermal floor = wanted instanceof String ? Thermal.of((String) wanted) : null;
                return floor != null && now.thermal != null && now.thermal.compareTo(floor) >= 0;
            case "battery_saver":
                return now.batterySaver != null && now.batterySaver.equals(wanted);
            default:
                return false;
        }
    }
}
