package io.nnfleet.client;

import java.util.ArrayList;
import java.util.List;

/**
 * Background refresh, for apps that want it: one loop for any number of clients, on a thread the app brings. It ends when the
 * thread is interrupted.
 */
public final class Poller implements Runnable {
    private static final double LEAST_PAUSE_S = 1;

    private final List<FleetClient> clients;
    private final Clock clock;
    private final double[] flushAtS;

    public Poller(List<FleetClient> clients, Clock clock) {
        this.clients = new ArrayList<>(clients);
        this.clock = clock;
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
        return Math.max(LEAST_PAUSE_S, flushAtS.length == 0 ? LEAST_PAUSE_S : pauseS);
    }

    private double serve(int place, FleetClient client) {
        Refresh refreshed = client.refresh();
        double nowS = clock.monotonicS();
        if (nowS >= flushAtS[place]) {
            Flushed flushed = client.flush();
            flushAtS[place] = nowS + (flushed.waitS > 0 ? flushed.waitS : client.flushS());
        }
        return Math.min(refreshed.waitS, flushAtS[place] - nowS);
    }
}
