package io.nnfleet.client;

import java.util.Locale;

/** Android's {@code PowerManager.THERMAL_STATUS_*}, in rising order. */
public enum Thermal {
    NONE,
    LIGHT,
    MODERATE,
    SEVERE,
    CRITICAL,
    EMERGENCY,
    SHUTDOWN;

    /** Of what {@code PowerManager.getCurrentThermalStatus()} returns; null for a number Android does not define. */
    public static Thermal of(int status) {
        return status >= 0 && status < values().length ? values()[status] : null;
    }

    /** Of the wire's lower-case word; null for any other. */
    static Thermal of(String word) {
        for (Thermal thermal : values()) {
            if (thermal.name().toLowerCase(Locale.ROOT).equals(word)) {
                return thermal;
            }
        }
        return null;
    }
}
