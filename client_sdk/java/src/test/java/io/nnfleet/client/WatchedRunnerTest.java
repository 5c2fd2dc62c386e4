package io.nnfleet.client;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNotEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertSame;
import static org.junit.Assert.assertThrows;

import io.nnfleet.client.FakeRunner.Behaviour;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.junit.After;
import org.junit.Test;

/** A driver that hangs costs its limit, not the app (R-G3). */
public class WatchedRunnerTest {
    private final CountDownLatch stuck = new CountDownLatch(1);

    @After
    public void release() {
        stuck.countDown();
    }

    private void hang() {
        try {
            stuck.await();
        } catch (InterruptedException deaf) {
            hang(); // a driver does not listen
        }
    }

    private static Map<String, Object> limits(long compileMs, long runMs, long watchdogMs) {
        Map<String, Object> limits = new HashMap<>();
        limits.put("compile_timeout_ms", compileMs);
        limits.put("run_timeout_ms", runMs);
        limits.put("watchdog_ms", watchdogMs);
        return Collections.singletonMap("limits", limits);
    }

    private static Session start(Behaviour behaviour, Map<String, Object> arm) throws Exception {
        return new WatchedRunner(new FakeRunner().with("npu", behaviour)).start("segmentation", "npu", arm);
    }

    @Test
    public void a_start_that_hangs_is_given_up() {
        Behaviour hanging =
                new Behaviour() {
                    @Override
                    void onStart() {
                        hang();
                    }
                };
        ArmFailed failed = assertThrows(ArmFailed.class, () -> start(hanging, limits(50, 1_000, 1_000)));
        assertEquals("compile:timeout", failed.getMessage());
    }

    @Test
    public void a_run_that_hangs_is_given_up_and_its_session_never_touched_again() throws Exception {
        Behaviour hanging =
                new Behaviour() {
                    @Override
                    public long run() {
                        hang();
                        return 1;
                    }
                };
        Session session = start(hanging, limits(5_000, 1_000, 50));
        assertThrows(RunTimeout.class, session::run);
        session.close();
        assertEquals(0, hanging.closed);
        assertNull(session.executed());
    }

    @Test
    public void a_start_that_comes_back_too_late_is_closed_by_its_own_thread() throws Exception {
        CountDownLatch closing = new CountDownLatch(1);
        Behaviour late =
                new Behaviour() {
                    @Override
                    void onStart() {
                        hang();
                    }

                    @Override
                    public void close() {
                        closing.countDown();
                    }
                };
        assertThrows(ArmFailed.class, () -> start(late, limits(50, 1_000, 1_000)));
        stuck.countDown();
        closing.await();
    }

    @Test
    public void a_run_that_comes_back_after_all_is_closed_by_its_own_thread() throws Exception {
        CountDownLatch closing = new CountDownLatch(1);
        Behaviour late =
                new Behaviour() {
                    @Override
                    public long run() {
                        hang();
                        return 1;
                    }

                    @Override
                    public void close() {
                        closing.countDown();
                    }
                };
        Session session = start(late, limits(5_000, 1_000, 50));
        assertThrows(RunTimeout.class, session::run);
        session.close();
        stuck.countDown();
        closing.await();
    }

    @Test
    public void a_session_that_was_closed_leaves_no_thread() throws Exception {
        Thread[] seen = new Thread[1];
        Behaviour noting =
                new Behaviour() {
                    @Override
                    void onStart() {
                        seen[0] = Thread.currentThread();
                    }
                };
        start(noting, Collections.<String, Object>emptyMap()).close();
        seen[0].join();
    }

    @Test
    public void an_interrupted_use_is_no_timeout_and_goes_no_further() throws Exception {
        CountDownLatch running = new CountDownLatch(1);
        Behaviour hanging =
                new Behaviour() {
                    @Override
                    public long run() {
                        running.countDown();
                        hang();
                        return 1;
                    }
                };
        FleetClient client = Builders.client(new Transport("http://127.0.0.1:9"), new ManualClock()).build();
        FakeRunner runner = new FakeRunner().with(Builders.CPU, hanging);
        Throwable[] seen = new Throwable[1];
        Thread worker =
                new Thread(
                        () -> {
                            try {
                                client.use("segmentation", new WatchedRunner(runner), 3, Circumstances.UNKNOWN, null);
                            } catch (NnfleetClientException.CalledOff calledOff) {
                                seen[0] = calledOff;
                            }
                        });
        worker.start();
        running.await();
        worker.interrupt();
        worker.join();
        assertEquals("interrupted", seen[0].getMessage());
        assertEquals(0, client.waiting());
        assertEquals(1, runner.started.size());
    }

    @Test
    public void a_run_that_comes_back_too_late_is_a_timeout_too() throws Exception {
        Behaviour slow =
                new Behaviour() {
                    @Override
                    public long run() {
                        return 2_000_000;
                    }
                };
        assertThrows(RunTimeout.class, start(slow, limits(5_000, 1_000, 60_000))::run);
    }

    @Test
    public void all_calls_of_a_session_are_made_on_one_thread_that_is_not_the_apps() throws Exception {
        Thread[] seen = new Thread[2];
        Session session =
                start(
                        new Behaviour() {
                            @Override
                            void onStart() {
                                seen[0] = Thread.currentThread();
                            }

                            @Override
                            public long run() {
                                seen[1] = Thread.currentThread();
                                return 1;
                            }
                        },
                        Collections.<String, Object>emptyMap());
        session.run();
        session.close();
        assertSame(seen[0], seen[1]);
        assertNotEquals(Thread.currentThread(), seen[0]);
    }

    @Test
    public void what_the_runner_throws_comes_through_as_itself() throws Exception {
        FakeRunner failing = new FakeRunner().failing("npu", "load", "x");
        Map<String, Object> arm = Collections.emptyMap();
        assertThrows(ArmFailed.class, () -> new WatchedRunner(failing).start("m", "npu", arm));
        Behaviour broken =
                new Behaviour() {
                    @Override
                    public long run() {
                        throw new UnsatisfiedLinkError("no such library");
                    }
                };
        assertThrows(UnsatisfiedLinkError.class, start(broken, arm)::run);
    }
}
