package io.nnfleet.client;

import java.util.Map;

/** One arm on its way up or down a ladder: the plan it belongs to, its chance, the conditions before it. */
final class Trial {
    final Plan plan;
    final Rung rung;
    final double propensity;
    final String workload;
    final Map<String, Object> before;

    Trial(Plan plan, Rung rung, double propensity, String workload, Map<String, Object> before) {
        this.plan = plan;
        this.rung = rung;
        this.propensity = propensity;
        this.workload = workload;
        this.before = before;
    }
}
