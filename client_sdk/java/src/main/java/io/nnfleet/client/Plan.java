package io.nnfleet.client;

import io.nnfleet.client.Assign.AssignedBy;
import io.nnfleet.client.Assign.Assignment;
import io.nnfleet.client.DecisionDocument.Split;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;

/** The answer to "how do I run this model now", with its why. */
public final class Plan {
    static final String DEFAULT_NAME = "default";
    static final long NO_RELEASE = 0;

    public final String model;
    public final String name;

    /** In order of trial; the last rung always works. */
    public final List<Rung> ladder;

    /** The chance (0…1) that this split was the one served, and 1 where nothing was drawn. */
    public final double propensity;

    public final Reason reason;

    /** 0 for the bundled default. */
    public final long release;

    public final AssignedBy assignedBy;

    /** Null where no bucket was computed. */
    public final Integer bucket;

    /** This split is there to find something out. */
    public final boolean explore;

    /** What stands in the way of a better answer; null where nothing does. */
    public final String errorCode;

    /** The golden check's reference; null where there is none. */
    public final Map<String, Object> golden;

    private final List<Split> splits;

    private Plan(
            String model,
            String name,
            List<Rung> ladder,
            Split split,
            DecisionStore.Standing standing,
            Assignment assignment,
            List<Split> splits,
            Map<String, Object> golden) {
        this.model = model;
        this.name = name;
        this.ladder = Collections.unmodifiableList(ladder);
        this.assignedBy = assignment.assignedBy;
        this.bucket = assignment.bucket;
        boolean drawn = assignedBy == AssignedBy.BUCKET || assignedBy == AssignedBy.SINGLE_SPLIT;
        this.propensity = drawn ? split.weightBp / (double) Assign.BUCKETS : 1;
        this.reason = standing.reason;
        this.release = standing.document == null ? NO_RELEASE : standing.document.release;
        this.explore = split != null && split.explore;
        this.errorCode = standing.errorCode;
        this.golden = golden;
        this.splits = splits;
    }

    private Plan(Plan plan, String errorCode) {
        this.model = plan.model;
        this.name = plan.name;
        this.ladder = plan.ladder;
        this.assignedBy = plan.assignedBy;
        this.bucket = plan.bucket;
        this.propensity = plan.propensity;
        this.reason = plan.reason;
        this.release = plan.release;
        this.explore = plan.explore;
        this.errorCode = errorCode;
        this.golden = plan.golden;
        this.splits = plan.splits;
    }

    /** The plan of a document that may be used. */
    static Plan of(
            DecisionStore.Standing standing, DecisionDocument.Model decision, String model, String name, Assignment assignment) {
        List<Split> splits = decision.plans.get(name).splits;
        Split split = splits.get(assignment.splitIndex);
        List<Rung> ladder = new ArrayList<>();
        for (String armId : split.ladder) {
            ladder.add(new Rung(armId, decision.arms.get(armId)));
        }
        return new Plan(model, name, ladder, split, standing, assignment, splits, decision.golden);
    }

    /** The bundled default as a plan. */
    static Plan ofDefault(String model, List<Rung> ladder, String errorCode) {
        return new Plan(
                model,
                DEFAULT_NAME,
                ladder,
                null,
                new DecisionStore.Standing(Reason.DEFAULT, null, errorCode),
                new Assignment(0, AssignedBy.DEFAULT, null),
                Collections.<Split>emptyList(),
                null);
    }

    Plan withErrorCode(String code) {
        return new Plan(this, code);
    }

    /**
     * The chance that this arm was served, given the arms that this phone had to pass over. A share whose first arms were
     * passed over moves to its next one, so the arm's chance is the sum of all splits that end at it; without the moved
     * shares every off-policy estimate would be biased.
     */
    double servedPropensity(String armId, Collection<String> passedOver) {
        if (splits.isEmpty() || assignedBy == AssignedBy.NO_UNIT) {
            return propensity;
        }
        int weightBp = 0;
        for (Split split : splits) {
            weightBp += firstLeft(split, passedOver).equals(armId) ? split.weightBp : 0;
        }
        return weightBp / (double) Assign.BUCKETS;
    }

    private static String firstLeft(Split split, Collection<String> passedOver) {
        for (String armId : split.ladder) {
            if (!passedOver.contains(armId)) {
                return armId;
            }
        }
        return split.ladder.get(split.ladder.size() - 1);
    }
}
