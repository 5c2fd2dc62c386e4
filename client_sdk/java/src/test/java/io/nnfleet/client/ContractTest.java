package io.nnfleet.client;

import static io.nnfleet.client.Builders.part;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import io.nnfleet.client.FakeRunner.Behaviour;
import io.nnfleet.client.FakeServer.Reply;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import org.junit.Before;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

/** What every SDK does alike: the vectors that the Python SDK is held to as well (R-G1). */
public class ContractTest {
    @Rule public final FakeServer server = new FakeServer();
    @Rule public final TemporaryFolder folder = new TemporaryFolder();
    private ManualClock clock = new ManualClock();
    private final Deque<Reply> answers = new ArrayDeque<>();
    private Map<String, Object> contract;

    @Before
    public void read() throws Exception {
        contract = Json.object(Files.readAllBytes(Paths.get(System.getProperty("nnfleet.vectors"), "contract.json")));
        server.fault = (method, body) -> answers.remove();
    }

    private interface Check {
        void of(Map<String, Object> row, String note) throws Exception;
    }

    private static void each(Object rows, Check check) throws Exception {
        for (Object row : Json.list(rows)) {
            check.of(Json.object(row), String.valueOf(Json.object(row).get("note")));
        }
    }

    private byte[] document(String name) {
        return Json.bytes(part(contract, "documents").get(name));
    }

    private Reply reply(Map<String, Object> answer) {
        int status = ((Long) answer.get("status")).intValue();
        String name = (String) answer.get("document");
        if ("unknown-report".equals(name)) {
            return Reply.problem(status, name, "");
        }
        Reply reply = new Reply(status, name == null ? "" : new String(document(name), Json.UTF_8));
        for (Map.Entry<String, Object> header : part(answer, "headers").entrySet()) {
            reply.header(header.getKey(), (String) header.getValue());
        }
        return reply;
    }

    private FleetClient client(String unitId) {
        return client(unitId, null);
    }

    private FleetClient client(String unitId, File left) {
        Defaults defaults = new Defaults().cpu("segmentation", Builders.CPU);
        FleetClient.Builder builder = FleetClient.builder("camera", Builders.REPORT, server.transport(), defaults);
        builder.clock(clock).random(new Random(1)).folder(left);
        return (unitId == null ? builder : builder.unitId(unitId)).build();
    }

    private FleetClient clientWith(String document, String unitId) {
        return with(document, client(unitId));
    }

    private FleetClient with(String document, FleetClient client) {
        answers.add(new Reply(200, new String(document(document), Json.UTF_8)));
        client.refreshNow();
        return client;
    }

    private static String lower(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }

    @Test
    public void ids_of_reports() throws Exception {
        each(
                contract.get("reports"),
                (row, note) -> assertEquals(row.get("report_id"), Report.id(Json.text(row.get("text")).getBytes(Json.UTF_8))));
    }

    @Test
    public void plans_of_moments() throws Exception {
        each(
                contract.get("plans"),
                (row, note) -> {
                    FleetClient client = clientWith(Json.text(row.get("document")), (String) row.get("unit_id"));
                    Plan plan = client.decision("segmentation", circumstances(part(row, "now")));
                    assertEquals(note, row.get("expected"), seen(plan));
                });
    }

    private static Circumstances circumstances(Map<String, Object> now) {
        return Circumstances.UNKNOWN
                .workload((String) now.get("workload"))
                .thermal(Thermal.of((String) now.get("thermal")))
                .batterySaver((Boolean) now.get("battery_saver"));
    }

    private static Map<String, Object> seen(Plan plan) {
        List<String> ladder = new ArrayList<>();
        for (Rung rung : plan.ladder) {
            ladder.add(rung.armId);
        }
        Map<String, Object> seen = new LinkedHashMap<>();
        seen.put("plan", plan.name);
        seen.put("ladder", ladder);
        seen.put("propensity", plan.propensity);
        seen.put("assigned_by", lower(plan.assignedBy));
        seen.put("bucket", plan.bucket == null ? null : (long) plan.bucket);
        seen.put("explore", plan.explore);
        seen.put("error_code", plan.errorCode);
        return seen;
    }

    @Test
    public void chances_of_the_arm_that_served() throws Exception {
        each(
                contract.get("propensities"),
                (row, note) -> {
                    FleetClient client = clientWith(Json.text(row.get("document")), (String) row.get("unit_id"));
                    List<String> passedOver = new ArrayList<>();
                    for (Object arm : Json.list(row.get("passed_over"))) {
                        passedOver.add(Json.text(arm));
                    }
                    Plan plan = client.decision("segmentation", Circumstances.UNKNOWN);
                    double chance = plan.servedPropensity(Json.text(row.get("served")), passedOver);
                    assertEquals(note, Json.number(row.get("expected")), chance, 0);
                });
    }

    @Test
    public void walks_down_a_ladder() throws Exception {
        each(
                contract.get("walks"),
                (row, note) -> {
                    FakeRunner runner = new FakeRunner();
                    for (Map.Entry<String, Object> told : part(row, "arms").entrySet()) {
                        runner.with(told.getKey(), behaviour(Json.object(told.getValue())));
                    }
                    FleetClient client = clientWith(Json.text(row.get("document")), "unit-1");
                    long runs = Json.whole(row.get("runs"));
                    Outcome outcome = client.use("segmentation", runner, runs, Circumstances.UNKNOWN, null);
                    Map<String, Object> seen = new LinkedHashMap<>();
                    seen.put("steps", steps(outcome));
                    seen.put("served", outcome.armId);
                    assertEquals(note, row.get("expected"), seen);
                });
    }

    private static List<Object> steps(Outcome outcome) {
        List<Object> steps = new ArrayList<>();
        for (Step step : outcome.steps) {
            steps.add(Arrays.<Object>asList(step.armId, lower(step.ending), step.window == null ? null : step.window.count()));
        }
        return steps;
    }

    private static Behaviour behaviour(Map<String, Object> told) {
        return new Behaviour() {
            @Override
            void onStart() throws ArmFailed {
                if (told.containsKey("start")) {
                    throw failure(told.get("start"));
                }
            }

            @Override
            public long run() throws ArmFailed, RunTimeout {
                if (told.containsKey("fails_at") && runs == (Long) told.get("fails_at")) {
                    if (told.get("with").equals("timeout")) {
                        throw new RunTimeout("told so");
                    }
                    throw failure(told.get("with"));
                }
                return super.run();
            }

            @Override
            public GoldenResult golden() {
                return told.containsKey("golden") ? new GoldenResult(1, (Boolean) told.get("golden") ? 1 : 0, 0.5) : null;
            }
        };
    }

    private static ArmFailed failure(Object text) {
        String[] parts = text.toString().split(":");
        return new ArmFailed(parts[0], parts[1]);
    }

    @Test
    public void courses_of_refreshes() throws Exception {
        each(
                contract.get("refreshes"),
                (row, note) -> {
                    clock = new ManualClock();
                    FleetClient client = client("unit-1");
                    each(row.get("steps"), (step, none) -> assertEquals(note, step.get("expected"), refreshed(client, step)));
                });
    }

    private Map<String, Object> refreshed(FleetClient client, Map<String, Object> step) throws Exception {
        clock.passS(Json.number(step.get("pass_s")));
        each(step.get("answers"), (answer, none) -> answers.add(reply(answer)));
        Refresh refresh = client.refresh();
        Map<String, Object> seen = new LinkedHashMap<>();
        seen.put("asked", refresh.asked);
        seen.put("reason", lower(refresh.reason));
        seen.put("release", client.decision("segmentation", Circumstances.UNKNOWN).release);
        seen.put("error_code", refresh.errorCode);
        assertTrue(answers.isEmpty());
        return seen;
    }

    @Test
    public void courses_of_processes() throws Exception {
        each(
                contract.get("processes"),
                (row, note) -> {
                    clock = new ManualClock();
                    File left = folder.newFolder();
                    each(
                            row.get("steps"),
                            (step, none) -> {
                                clock.passS(Json.number(step.get("pass_s")));
                                clock.jumpWallS(Json.number(step.get("jump_s")));
                                assertEquals(note, step.get("starts_at"), firstStart(left, row.get("document"), step.get("fate")));
                            });
                });
    }

    /** The first arm that a process starts, which takes up what the one before it left and comes to this end. */
    private String firstStart(File left, Object document, Object fate) throws Exception {
        Map<String, RuntimeException> ends = new HashMap<>();
        ends.put("dies", new IllegalStateException("the process is gone"));
        ends.put("called-off", new NnfleetClientException.CalledOff("the user left"));
        FakeRunner runner = new FakeRunner();
        try (FleetClient client = client("unit-1", left)) {
            if (document != null) {
                with(Json.text(document), client);
            }
            RuntimeException end = ends.get(fate);
            if (end == null) {
                client.use("segmentation", runner, 1, Circumstances.UNKNOWN, null);
            } else {
                runner.ending(Builders.NPU, end).ending(Builders.CPU, end);
                assertThrows(end.getClass(), () -> client.use("segmentation", runner, 1, Circumstances.UNKNOWN, null));
            }
        }
        return runner.started.isEmpty() ? null : runner.started.get(0);
    }

    @Test
    public void seals() throws Exception {
        Map<String, Object> facts = part(contract, "seals");
        byte[] key = SealTest.hex(Json.text(facts.get("key")));
        Seal seal = new Seal(Json.text(facts.get("report_id")), Collections.singletonMap(Json.text(facts.get("key_id")), key));
        byte[] body = Json.text(facts.get("body")).getBytes(Json.UTF_8);
        double nowS = Json.number(facts.get("now_s"));
        each(
                facts.get("rows"),
                (row, note) -> assertEquals(note, row.get("expected"), seal.refusal(body, (String) row.get("token"), nowS)));
    }
}
