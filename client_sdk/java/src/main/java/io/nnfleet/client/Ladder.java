package io.nnfleet.client;

import io.nnfleet.client.Step.Ending;
import java.util.ArrayList;
import java.util.List;

/** Walking a ladder: rung by rung, until one has made all the runs. */
final class Ladder {
    private Ladder() {}

    /**
     * Tries the rungs in order; a step for each, the last one being the arm that served. A rung that cannot start, whose
     * golden check fails, that fails or times out while running is left for good, and the next rung makes the runs still
     * missing. There is nothing below the last rung, so less is held against it.
     */
    static List<Step> walk(Plan plan, Runner runner, long runs, Witness witness) {
        List<Step> steps = new ArrayList<>();
        List<String> passedOver = new ArrayList<>();
        long missing = runs;
        for (int place = 0; place < plan.ladder.size(); place++) {
            Rung rung = plan.ladder.get(place);
            boolean last = place == plan.ladder.size() - 1;
            if (witness.excludes(rung, last)) {
                passedOver.add(rung.armId);
                steps.add(new Step(rung.armId, Ending.PASSED_OVER, null));
                continue;
            }
            witness.starting(rung, passedOver);
            Window window = Window.measure(runner, plan.model, rung, missing, last);
            Ending ending = ending(window, last);
            witness.ended(rung, window, ending != Ending.RAN && !last);
            steps.add(new Step(rung.armId, ending, window));
            if (ending == Ending.RAN) {
                break;
            }
            missing -= window.count;
            passedOver.add(rung.armId);
        }
        return steps;
    }

    private static Ending ending(Window window, boolean last) {
        if (window.timeouts > 0) {
            return Ending.TIMED_OUT;
        }
        if (window.failure != null) {
            return Ending.FAILED;
        }
        return last || window.isGood() ? Ending.RAN : Ending.GOLDEN_FAILED;
    }
}
