package io.nnfleet.client;

/** Thrown by a runner: an arm does not work on this device. */
public final class ArmFailed extends Exception {
    private static final long serialVersionUID = 1L;

    /** Where: {@code load}, {@code compile}, {@code init}, {@code run}, {@code close}. */
    public final String phase;

    /** What the driver or the runtime said: {@code ANEURALNETWORKS_DEAD_OBJECT}, {@code TfLiteError}, … */
    public final String code;

    public ArmFailed(String phase, String code) {
        super(phase + ":" + code);
        this.phase = phase;
        this.code = code;
    }
}
