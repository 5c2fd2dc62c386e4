package io.nnfleet.client;

import java.util.Map;

/** What the phone is like right now: {@code thermal_status}, {@code battery_c}, {@code charging}, … Absent is not zero. */
public interface Conditions {
    Map<String, Object> now();
}
