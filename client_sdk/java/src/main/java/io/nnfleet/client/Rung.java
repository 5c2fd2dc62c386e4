package io.nnfleet.client;

import java.util.Map;

/** One arm of a ladder: its id and its settings, as the document gives them. */
public final class Rung {
    public final String armId;
    public final Map<String, Object> arm;

    Rung(String armId, Map<String, Object> arm) {
        this.armId = armId;
        this.arm = arm;
    }
}
