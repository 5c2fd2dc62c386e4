package io.nnfleet.client;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Starts arms by id; one that is given no trouble runs in 1,500 µs. */
final class FakeRunner implements Runner {
    final List<String> started = new ArrayList<>();
    private final Map<String, Behaviour> behaviours = new HashMap<>();

    /** What an arm does beside running well. */
    static class Behaviour implements Session {
        int runs;
        int closed;

        void onStart() throws ArmFailed, RunTimeout {}

        @Override
        public Init init() {
            return new Init(900L, 45_100L, false, null);
        }

        @Override
        public Executed executed() {
            return new Executed("TfLiteNnapiDelegate", 64, 64, 1);
        }

        @Override
        public long run() throws ArmFailed, RunTimeout {
            runs++;
            return 1_500;
        }

        @Override
        public GoldenResult golden() throws ArmFailed, RunTimeout {
            return null;
        }

        @Override
        public void close() throws ArmFailed, RunTimeout {
            closed++;
        }
    }

    FakeRunner with(String armId, Behaviour behaviour) {
        behaviours.put(armId, behaviour);
        return this;
    }

    FakeRunner failing(String armId, String phase, String code) {
        return with(
                armId,
                new Behaviour() {
                    @Override
                    void onStart() throws ArmFailed {
                        throw new ArmFailed(phase, code);
                    }
                });
    }

    /** An arm whose start ends in what is no failure of an arm. */
    FakeRunner ending(String armId, RuntimeException end) {
        return with(
                armId,
                new Behaviour() {
                    @Override
                    void onStart() {
                        throw end;
                    }
                });
    }

    @Override
    public Session start(String model, String armId, Map<String, Object> arm) throws ArmFailed, RunTimeout {
        started.add(armId);
        Behaviour behaviour = behaviours.containsKey(armId) ? behaviours.get(armId) : new Behaviour();
        behaviour.onStart();
        return behaviour;
    }
}
