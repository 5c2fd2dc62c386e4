package io.nnfleet.client;

import java.util.Locale;

/** What the SDK costs an app, on this machine: one decision from memory, and the telemetry of one inference. */
final class StopwatchProgram {
    private static final int ROUNDS = 200_000;
    private static final int WARM_UP_ROUNDS = 50_000;

    private StopwatchProgram() {}

    private interface Work {
        void once();
    }

    public static void main(String[] arguments) throws Exception {
        Planner planner = new Planner(new Defaults().cpu("segmentation", Builders.CPU).frozen(), "unit-1");
        DecisionStore.Standing standing = new DecisionStore.Standing(Reason.FRESH, DocumentReader.read(document()), null);
        print("a decision from memory", () -> planner.choose(standing, "segmentation", Circumstances.UNKNOWN));
        Window window = new Window();
        print("telemetry of an inference", () -> window.record(1_500 + (window.count() & 1_023)));
    }

    private static byte[] document() {
        return Builders.document().getBytes(Json.UTF_8);
    }

    private static void print(String what, Work work) {
        repeat(work, WARM_UP_ROUNDS);
        long start = System.nanoTime();
        repeat(work, ROUNDS);
        double eachUs = (System.nanoTime() - start) / 1e3 / ROUNDS;
        System.out.printf(Locale.ROOT, "%s: %.3f µs%n", what, eachUs);
    }

    private static void repeat(Work work, int rounds) {
        for (int round = 0; round < rounds; round++) {
            work.once();
        }
    }
}
