package io.nnfleet.client;

import java.util.LinkedHashMap;
import java.util.Map;

/** Outputs against a reference on a fixed input: checks made, checks passed, the largest relative error seen. */
public final class GoldenResult {
    private static final double MOST_REL_ERROR = 1e12;

    public final int checks;
    public final int passed;
    public final double maxRelError;

    public GoldenResult(int checks, int passed, double maxRelError) {
        this.checks = checks;
        this.passed = passed;
        this.maxRelError = maxRelError;
    }

    /** Every check passed. */
    public boolean isGood() {
        return passed >= checks;
    }

    Map<String, Object> toJson() {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("checks", checks);
        json.put("passed", passed);
        // A driver whose output is infinite, or no number at all, is the very one to hear about.
        json.put("max_rel_error", maxRelError < MOST_REL_ERROR ? maxRelError : MOST_REL_ERROR);
        return json;
    }
}
