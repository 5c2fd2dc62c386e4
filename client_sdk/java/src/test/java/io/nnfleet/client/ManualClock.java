package io.nnfleet.client;

/** A clock that moves when told to. */
class ManualClock implements Clock {
    private double wallS = 1_780_000_000.0;
    private double steadyS = 1_000;

    @Override
    public double nowS() {
        return wallS;
    }

    @Override
    public double monotonicS() {
        return steadyS;
    }

    void passS(double seconds) {
        wallS += seconds;
        steadyS += seconds;
    }

    void jumpWallS(double seconds) {
        wallS += seconds;
    }
}
