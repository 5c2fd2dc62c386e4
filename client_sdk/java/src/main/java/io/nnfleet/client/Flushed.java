package io.nnfleet.client;

/** What one flush came to: the server's verdicts, what was given up, what waits, and when to come back. */
public final class Flushed {
    int accepted;
    int duplicate;
    int setAside;
    int rejected;
    int dropped;
    int waiting;
    String errorCode;
    double waitS;

    public int accepted() {
        return accepted;
    }

    public int duplicate() {
        return duplicate;
    }

    public int setAside() {
        return setAside;
    }

    public int rejected() {
        return rejected;
    }

    public int dropped() {
        return dropped;
    }

    /** Records not yet acknowledged. */
    public int waiting() {
        return waiting;
    }

    /** Of the request that ended it; null where nothing went wrong. */
    public String errorCode() {
        return errorCode;
    }

    /** 0 where nothing forbids another flush now. */
    public double waitS() {
        return waitS;
    }
}
