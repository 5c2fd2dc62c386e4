package io.nnfleet.client;

/** The version, in the one place that both the library and its records read. */
public final class Version {
    public static final String NUMBER = "0.1.0";

    static final String SDK = "java/" + NUMBER;

    private Version() {}
}
