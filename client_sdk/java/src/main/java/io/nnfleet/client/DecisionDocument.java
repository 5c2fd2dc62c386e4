package io.nnfleet.client;

import java.util.List;
import java.util.Map;

/** One release as one device class of one app sees it: typed and never changed after it was read. */
final class DecisionDocument {
    final String app;
    final long release;
    final double expiresAtS;
    final Map<String, Model> models;
    final double telemetrySample;
    final double flushS;
    final List<Object> advice;
    final List<Object> probe;

    DecisionDocument(
            String app,
            long release,
            double expiresAtS,
            Map<String, Model> models,
            double telemetrySample,
            double flushS,
            List<Object> advice,
            List<Object> probe) {
        this.app = app;
        this.release = release;
        this.expiresAtS = expiresAtS;
        this.models = models;
        this.telemetrySample = telemetrySample;
        this.flushS = flushS;
        this.advice = advice;
        this.probe = probe;
    }

    /** Conditions on this moment and the plan that holds under them. */
    static final class Situation {
        final Map<String, Object> when;
        final String plan;

        Situation(Map<String, Object> when, String plan) {
            this.when = when;
            this.plan = plan;
        }
    }

    /** A share of all units (out of 10,000) and the arm ids they try, in order. */
    static final class Split {
        final int weightBp;
        final List<String> ladder;
        final boolean explore;

        Split(int weightBp, List<String> ladder, boolean explore) {
            this.weightBp = weightBp;
            this.ladder = ladder;
            this.explore = explore;
        }
    }

    /** The splits of one plan and what assigns them. An unknown hash assigns nobody. */
    static final class PlanShares {
        final String salt;
        final String hashName;
        final List<Split> splits;

        PlanShares(String salt, String hashName, List<Split> splits) {
            this.salt = salt;
            this.hashName = hashName;
            this.splits = splits;
        }

        /** Whether this client can say who gets which split. */
        boolean assigns() {
            boolean whole = false;
            for (Split split : splits) {
                whole |= split.weightBp == Assign.BUCKETS;
            }
            return whole || hashName.equals(Assign.HASH_NAME);
        }
    }

    /** Situations in order, plans by name, arms by id, the golden check's reference (or null), all of one model. */
    static final class Model {
        final List<Situation> situations;
        final Map<String, PlanShares> plans;
        final Map<String, Map<String, Object>> arms;
        final Map<String, Object> golden;

        Model(
                List<Situation> situations,
                Map<String, PlanShares> plans,
                Map<String, Map<String, Object>> arms,
                Map<String, Object> golden) {
            this.situations = situations;
            this.plans = plans;
            this.arms = arms;
            this.golden = golden;
        }
    }
}
