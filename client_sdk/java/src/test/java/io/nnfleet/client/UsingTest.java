package io.nnfleet.client;

import static io.nnfleet.client.Builders.CPU;
import static io.nnfleet.client.Builders.GPU;
import static io.nnfleet.client.Builders.NPU;
import static io.nnfleet.client.Builders.client;
import static io.nnfleet.client.Builders.part;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import io.nnfleet.client.FakeRunner.Behaviour;
import java.io.File;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.Before;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

/** Walking the ladder, and what is reported of it (R-D1, R-D5, R-G3). */
public class UsingTest {
    @Rule public final FakeServer server = new FakeServer();
    @Rule public final TemporaryFolder folder = new TemporaryFolder();
    private final ManualClock clock = new ManualClock();
    private FleetClient client;

    @Before
    public void start() {
        client = restarted();
        client.refresh();
    }

    private FleetClient restarted() {
        if (client != null) {
            client.close();
        }
        return client(server.transport(), clock).folder(folder.getRoot()).appVersion("5.2.1").build();
    }

    private Outcome use(Runner runner) {
        return client.use("segmentation", runner, 30, Circumstances.UNKNOWN.workload("burst"), null);
    }

    private List<Map<String, Object>> sent() {
        client.flush();
        return new ArrayList<>(server.records.values());
    }

    private static Behaviour after(int made, Exception trouble) {
        return new Behaviour() {
            @Override
            public long run() throws ArmFailed, RunTimeout {
                if (runs == made && trouble instanceof ArmFailed) {
                    throw (ArmFailed) trouble;
                }
                if (runs == made) {
                    throw (RunTimeout) trouble;
                }
                return super.run();
            }
        };
    }

    @Test
    public void the_first_rung_that_works_makes_all_runs_and_writes_one_window() {
        Outcome outcome = use(new FakeRunner());
        assertEquals(NPU, outcome.armId);
        assertEquals(30, outcome.latency().total());
        Map<String, Object> window = sent().get(0);
        assertEquals(1, server.records.size());
        assertEquals("window", window.get("kind"));
        assertEquals("java/0.1.0", window.get("sdk"));
        assertEquals("5.2.1", window.get("app_version"));
        assertEquals(30L, part(window, "runs").get("count"));
        assertEquals("TfLiteNnapiDelegate", part(window, "executed").get("by"));
        assertEquals("google-edgetpu", part(window, "requested").get("accelerator"));
        assertFalse(part(window, "init").containsKey("first_run_us"));
        assertFalse(window.containsKey("golden"));
        assertEquals(45_000L, part(part(window, "runs"), "latency_us").get("sum"));
    }

    @Test
    public void a_driver_that_dies_is_left_for_good_with_every_arm_on_it() {
        FakeRunner runner = new FakeRunner().failing(NPU, "compile", "ANEURALNETWORKS_DEAD_OBJECT");
        assertEquals(GPU, use(runner).armId);
        assertEquals(Step.Ending.PASSED_OVER, use(runner).steps.get(0).ending);
        assertEquals(Arrays.asList(NPU, GPU, GPU), runner.started);
        Map<String, Object> failed = sent().get(0);
        assertEquals(1L, part(part(failed, "runs"), "errors").get("compile:ANEURALNETWORKS_DEAD_OBJECT"));
        assertEquals(1L, part(failed, "runs").get("fallbacks"));
        assertFalse(failed.containsKey("executed"));
    }

    @Test
    public void an_arm_that_fails_midway_keeps_its_runs_and_the_next_makes_the_rest() {
        Outcome outcome = use(new FakeRunner().with(NPU, after(12, new ArmFailed("run", "OP_FAILED"))));
        assertEquals(12, outcome.steps.get(0).window.count());
        assertEquals(18, outcome.steps.get(1).window.count());
        assertEquals(30, outcome.latency().total());
    }

    @Test
    public void a_timeout_is_counted_apart_and_enters_no_latency() {
        Outcome outcome = use(new FakeRunner().with(NPU, after(3, new RunTimeout("slow"))));
        assertEquals(Step.Ending.TIMED_OUT, outcome.steps.get(0).ending);
        Map<String, Object> runs = part(sent().get(0), "runs");
        assertEquals(1L, runs.get("timeouts"));
        assertEquals(3L, runs.get("count"));
        assertTrue(part(sent().get(0), "runs").get("errors") instanceof Map);
    }

    @Test
    public void an_arm_that_computes_wrongly_is_left_before_its_first_run() {
        Outcome outcome =
                use(
                        new FakeRunner()
                                .with(
                                        NPU,
                                        new Behaviour() {
                                            @Override
                                            public GoldenResult golden() {
                                                return new GoldenResult(2, 1, Double.NaN);
                                            }
                                        }));
        assertEquals(Step.Ending.GOLDEN_FAILED, outcome.steps.get(0).ending);
        assertEquals(0, outcome.steps.get(0).window.count());
        assertEquals(1e12, (Double) part(sent().get(0), "golden").get("max_rel_error"), 0);
    }

    @Test
    public void a_ladder_that_fails_to_its_last_rung_is_followed_by_the_bundled_default() {
        FakeRunner runner = new FakeRunner().failing(NPU, "load", "x").failing(GPU, "load", "x").failing(CPU, "load", "x");
        Outcome outcome = use(runner);
        assertNull(outcome.armId);
        assertEquals("ladder-exhausted", outcome.errorCode());
        assertEquals(Arrays.asList(NPU, GPU, CPU, CPU), runner.started);
    }

    @Test
    public void impossible_durations_and_odd_codes_do_not_sink_the_record() {
        use(
                new FakeRunner()
                        .with(
                                NPU,
                                new Behaviour() {
                                    @Override
                                    public long run() {
                                        return -5;
                                    }

                                    @Override
                                    public Init init() {
                                        return new Init(-1L, null, null, null);
                                    }

                                    @Override
                                    public void close() throws ArmFailed {
                                        throw new ArmFailed("close", "a\nb\u0000" + new String(new char[500]));
                                    }
                                }));
        Map<String, Object> window = sent().get(0);
        Map<String, Object> errors = part(part(window, "runs"), "errors");
        assertEquals(30L, errors.get("run:impossible_duration"));
        assertTrue(part(window, "init").isEmpty());
        assertFalse(part(window, "runs").containsKey("latency_us"));
        for (String code : errors.keySet()) {
            assertTrue(code, code.length() <= 128 && !code.contains("\n"));
        }
    }

    @Test
    public void a_process_that_died_leaves_a_mark_and_the_next_one_keeps_off_that_arm() {
        IllegalStateException gone = new IllegalStateException("the process is gone");
        assertThrows(IllegalStateException.class, () -> use(new FakeRunner().ending(NPU, gone)));
        client = restarted();
        FakeRunner runner = new FakeRunner();
        assertEquals(GPU, use(runner).armId);
        List<Map<String, Object>> records = sent();
        assertEquals("attempt", records.get(0).get("kind"));
        assertEquals(NPU, records.get(0).get("arm"));
        assertEquals("window", records.get(1).get("kind"));
        assertEquals(1.0, (Double) records.get(1).get("propensity"), 0);
        clock.passS(2 * 86_400);
        assertEquals(NPU, use(runner).armId);
    }

    private void crash() {
        IllegalStateException gone = new IllegalStateException("the process is gone");
        assertThrows(IllegalStateException.class, () -> use(new FakeRunner().ending(NPU, gone)));
        client = restarted();
    }

    @Test
    public void a_use_that_is_called_off_from_outside_is_not_reported_as_a_crash() {
        crash();
        clock.passS(86_400);
        RuntimeException stopped = new NnfleetClientException.CalledOff("the user left");
        assertThrows(NnfleetClientException.CalledOff.class, () -> use(new FakeRunner().ending(NPU, stopped)));
        assertEquals(1, client.waiting());
    }

    @Test
    public void a_mark_that_is_written_after_half_a_line_is_not_lost_with_it() throws Exception {
        client.close();
        Files.write(new File(folder.getRoot(), "observations.ndjson").toPath(), "{\"record_id\": \"0197".getBytes(Json.UTF_8));
        client = restarted();
        crash();
        assertEquals("attempt", sent().get(0).get("kind"));
    }

    @Test
    public void a_file_that_has_grown_beyond_all_reason_is_thrown_away() throws Exception {
        client.close();
        for (String name : new String[] {"decision.json", "observations.ndjson", "suspects.json"}) {
            try (RandomAccessFile file = new RandomAccessFile(new File(folder.getRoot(), name), "rw")) {
                file.setLength(16 * 1024 * 1024 + 1);
            }
        }
        client = restarted();
        assertEquals(0, client.waiting());
        assertEquals("no-document", client.decision("segmentation", Circumstances.UNKNOWN).errorCode);
        assertFalse(new File(folder.getRoot(), "observations.ndjson").exists());
    }

    @Test
    public void a_mark_that_its_window_followed_is_never_sent() {
        use(new FakeRunner());
        client = restarted();
        assertEquals(1, client.waiting());
        assertEquals("window", sent().get(0).get("kind"));
    }

    @Test
    public void the_document_survives_a_restart_and_the_network_is_not_needed() {
        client = restarted();
        assertEquals(Reason.FRESH, client.decision("segmentation", Circumstances.UNKNOWN).reason);
        clock.passS(3_600);
        assertEquals(Reason.STALE, client.decision("segmentation", Circumstances.UNKNOWN).reason);
    }

    @Test
    public void warm_up_runs_are_made_and_not_measured() {
        server.document =
                new String(server.document, Json.UTF_8)
                        .replace("\"delegate\": \"nnapi\"", "\"delegate\": \"nnapi\", \"warmup_runs\": 3")
                        .getBytes(Json.UTF_8);
        client.refreshNow();
        Behaviour npu = new Behaviour();
        use(new FakeRunner().with(NPU, npu));
        assertEquals(33, npu.runs);
        assertEquals(30L, part(sent().get(0), "runs").get("count"));
    }
}
