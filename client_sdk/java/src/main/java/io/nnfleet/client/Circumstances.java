package io.nnfleet.client;

/** What the app knows about this moment. Null is "not known", which matches no situation that asks for it. */
public final class Circumstances {
    /** A moment of which nothing is known. */
    public static final Circumstances UNKNOWN = new Circumstances(null, null, null);

    public final String workload;
    public final Thermal thermal;
    public final Boolean batterySaver;

    private Circumstances(String workload, Thermal thermal, Boolean batterySaver) {
        this.workload = workload;
        this.thermal = thermal;
        this.batterySaver = batterySaver;
    }

    /** With {@code burst} or {@code sustained}. */
    public Circumstances workload(String workload) {
        return new Circumstances(workload, thermal, batterySaver);
    }

    public Circumstances thermal(Thermal thermal) {
        return new Circumstances(workload, thermal, batterySaver);
    }

    public Circumstances batterySaver(Boolean batterySaver) {
        return new Circumstances(workload, thermal, batterySaver);
    }
}
