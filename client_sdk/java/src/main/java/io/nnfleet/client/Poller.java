package io.nnfleet.client;

import java.util.ArrayList;
import java.util.List;

/**
 * Background refresh, for apps that want it: one loop for any number of clients, on a thread the app brings. It ends when the
 * thread is interrupted. What would be due before the next round is done in this one, so that the network is used once for
 * both.
 */
public final class Poller implements Runnable {
    // A radio that is woken stays on for many seconds: a minute's max-age is for caches, a quarter of an hour for batteries.
    private static final double LEAST_PAUSE_S = 900;
    private static final double SHORTEST_NAP_S = 1;

    private final List<FleetClient> clients;
    private final Clock clock;
    private final double leastPauseS;
    private final double[] flushAtS;

    public Poller(List<FleetClient> clients, Clock clock) {
        this(clients, clock, LEAST_PAUSE_S);
    }

    /** With another pause between two rounds than a quarter of an hour. */
    public Poller(List<FleetClient> clients, Clock clock, double leastPauseS) {
        this.clients = new ArrayList<>(clients);
        this.clock = clock;
        this.leastPauseS = Math.max(SHORTEST_NAP_S, leastPauseS);
        this.flushAtS = new double[clients.size()];
        for (int place = 0; place < flushAtS.length; place++) {
            flushAtS[place] = clock.monotonicS() + clients.get(place).flushS();
        }
    }

    /** Loops until interrupted; the first round comes at once. */
    @Override
    public void run() {
        while (!Thread.currentThread().isInterrupted()) {
            try {
                Thread.sleep((long) (round() * 1000));
            } catch (InterruptedException stop) {
                return;
            }
        }
    }

    /** Serves every client that is due; the seconds until the next one is. */
    public double round() {
        double pauseS = Double.MAX_VALUE;
        for (int place = 0; place < flushAtS.length; place++) {
            pauseS = Math.min(pauseS, serve(place, clients.get(place)));
        }
        return Math.max(leastPauseS, flushAtS.length == 0 ? leastPauseS : pauseS);
    }

    private double serve(int place, FleetClient client) {
        Refresh refreshed = client.refresh();
        double nowS = clock.monotonicS();
        if (flushAtS[place] < nowS + leastPauseS) {
            Flushed flushed = client.flush();
            flushAtS[place] = nowS + (flushed.waitS > 0 ? flushed.waitS : client.flushS());
        }
        return Math.min(refreshed.waitS, flushAtS[place] - nowS);
    }
}
