package io.nnfleet.client;

import io.nnfleet.client.DecisionDocument.PlanShares;
import java.util.List;
import java.util.Map;

/** From a document and a moment to a plan: which ladder, with what chance, and why. */
final class Planner {
    private final Map<String, List<Rung>> defaults;
    private final String unitId;

    /** {@code unitId} is normalised, or null. */
    Planner(Map<String, List<Rung>> defaults, String unitId) {
        this.defaults = defaults;
        this.unitId = unitId;
    }

    boolean hasDefault(String model) {
        return defaults.containsKey(model);
    }

    /**
     * The plan for a model at this moment: from the document if it may be used and says, else the bundled default. Codes
     * that lead to the default: those of the store's standing, {@code unknown-model}, {@code no-situation}, {@code
     * unknown-hash} (a hash this client does not have, where a draw is needed). Throws UnknownModel where the default does
     * not know the model either.
     */
    Plan choose(DecisionStore.Standing standing, String model, Circumstances now) {
        if (standing.document == null) {
            return defaultPlan(model, standing.errorCode);
        }
        DecisionDocument.Model decision = standing.document.models.get(model);
        if (decision == null) {
            return defaultPlan(model, "unknown-model");
        }
        String name = Situations.matchingPlan(decision.situations, now);
        if (name == null) {
            return defaultPlan(model, "no-situation");
        }
        PlanShares shares = decision.plans.get(name);
        if (!shares.assigns()) {
            return defaultPlan(model, "unknown-hash");
        }
        return Plan.of(standing, decision, model, name, Assign.assign(shares.splits, shares.salt, unitId));
    }

    /** The bundled default as a plan. Throws UnknownModel where it does not know the model. */
    Plan defaultPlan(String model, String errorCode) {
        List<Rung> ladder = defaults.get(model);
        if (ladder == null) {
            throw new NnfleetClientException.UnknownModel(model);
        }
        return Plan.ofDefault(model, ladder, errorCode);
    }
}
