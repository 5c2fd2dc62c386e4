package io.nnfleet.client;

import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A runner whose driver may hang. All calls of a session are made on one thread of its own, which GPU delegates want
 * anyway. A call that outlives its limit is given up, and the walk goes on; should it ever come back, its thread closes what
 * was started and ends. A thread that waits here and is interrupted throws {@link NnfleetClientException.CalledOff}.
 *
 * <p>Limits are the arm's: {@code compile_timeout_ms} for the start, {@code run_timeout_ms} for a run that comes back too
 * late, {@code watchdog_ms} for one that does not come back (four times the run's limit where it is not given).
 */
public final class WatchedRunner implements Runner {
    private static final long COMPILE_TIMEOUT_MS = 30_000;
    private static final long RUN_TIMEOUT_MS = 5_000;

    private final Runner runner;

    public WatchedRunner(Runner runner) {
        this.runner = runner;
    }

    @Override
    public Session start(final String model, final String armId, final Map<String, Object> arm) throws ArmFailed, RunTimeout {
        long compileTimeoutMs = limit(arm, "compile_timeout_ms", COMPILE_TIMEOUT_MS);
        long runTimeoutMs = limit(arm, "run_timeout_ms", RUN_TIMEOUT_MS);
        Watched watched = new Watched(armId, runTimeoutMs, limit(arm, "watchdog_ms", 4 * runTimeoutMs));
        boolean started = false;
        try {
            watched.within(compileTimeoutMs, () -> watched.session = runner.start(model, armId, arm));
            started = true;
            return watched;
        } catch (RunTimeout hung) {
            throw new ArmFailed("compile", "timeout");
        } finally {
            if (!started) {
                watched.thread.shutdown();
            }
        }
    }

    private static long limit(Map<String, Object> arm, String name, long otherwise) {
        Object limits = arm.get("limits");
        Object value = limits instanceof Map ? ((Map<?, ?>) limits).get(name) : null;
        return value instanceof Number && ((Number) value).longValue() > 0 ? ((Number) value).longValue() : otherwise;
    }

    private static final class Watched implements Session, MeasuresMemory {
        private final ExecutorService thread;
        private final long runTimeoutMs;
        private final long watchdogMs;
        private Session session; // a hung one is its thread's alone
        private boolean hung;

        Watched(String armId, long runTimeoutMs, long watchdogMs) {
            this.runTimeoutMs = runTimeoutMs;
            this.watchdogMs = watchdogMs;
            this.thread =
                    Executors.newSingleThreadExecutor(
                            work -> {
                                Thread made = new Thread(work, "nnfleet " + armId);
                                made.setDaemon(true); // a hung driver must not keep the process alive
                                return made;
                            });
        }

        @Override
        public Init init() {
            return hung ? Init.UNKNOWN : session.init();
        }

        @Override
        public Executed executed() {
            return hung ? null : session.executed();
        }

        @Override
        public long memoryPeakKb() {
            return !hung && session instanceof MeasuresMemory ? ((MeasuresMemory) session).memoryPeakKb() : -1;
        }

        @Override
        public long run() throws ArmFailed, RunTimeout {
            long latencyUs = within(watchdogMs, () -> session.run());
            if (latencyUs > runTimeoutMs * 1000) {
                throw new RunTimeout("a run took " + latencyUs + " µs");
            }
            return latencyUs;
        }

        @Override
        public GoldenResult golden() throws ArmFailed, RunTimeout {
            return within(watchdogMs, () -> session.golden());
        }

        @Override
        public void close() throws ArmFailed, RunTimeout {
            try {
                if (!hung) {
                    within(watchdogMs, this::closeOnce);
                }
            } finally {
                thread.shutdown();
            }
        }

        private Void closeOnce() throws ArmFailed, RunTimeout {
            Session closing = session;
            session = null;
            if (closing != null) {
                closing.close();
            }
            return null;
        }

        /** Leaves a call alone. Behind it waits, on its own thread, what frees a session that came too late. */
        private void giveUp(Future<?> call) {
            hung = true;
            call.cancel(true);
            thread.submit(this::closeOnce);
            thread.shutdown();
        }

        <T> T within(long limitMs, Callable<T> call) throws ArmFailed, RunTimeout {
            Future<T> answer = thread.submit(call);
            try {
                return answer.get(limitMs, TimeUnit.MILLISECONDS);
            } catch (TimeoutException silence) {
                giveUp(answer);
                throw new RunTimeout("nothing came back within " + limitMs + " ms");
            } catch (InterruptedException interrupted) {
                giveUp(answer); // nobody knows what the driver is doing now
                Thread.currentThread().interrupt();
                throw new NnfleetClientException.CalledOff("interrupted");
            } catch (ExecutionException failed) {
                throw rethrown(failed.getCause());
            }
        }

        /** What the runner threw, as itself; returns only what {@code throw} may be written with. */
        private static RuntimeException rethrown(Throwable cause) throws ArmFailed, RunTimeout {
            if (cause instanceof ArmFailed) {
                throw (ArmFailed) cause;
            }
            if (cause instanceof RunTimeout) {
                throw (RunTimeout) cause;
            }
            if (cause instanceof Error) {
                throw (Error) cause;
            }
            return cause instanceof RuntimeException ? (RuntimeException) cause : new IllegalStateException(cause);
        }
    }
}
