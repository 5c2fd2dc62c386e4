package io.nnfleet.client;

import static io.nnfleet.client.Builders.client;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import io.nnfleet.client.FakeServer.Reply;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

/** Sending observations (R-D6): nothing acknowledged is sent again, nothing else is forgotten. */
public class TelemetryTest {
    @Rule public final FakeServer server = new FakeServer();
    @Rule public final TemporaryFolder folder = new TemporaryFolder();
    private final ManualClock clock = new ManualClock();

    private FleetClient withWindows(int count) {
        return withWindows(client(server.transport(), clock).build(), count);
    }

    private static FleetClient withWindows(FleetClient client, int count) {
        for (int window = 0; window < count; window++) {
            client.use("segmentation", new FakeRunner(), 1, Circumstances.UNKNOWN, null);
        }
        return client;
    }

    private static int recordsIn(byte[] body) {
        try {
            return FakeServer.sentRecords(body).size();
        } catch (IOException wrong) {
            throw new AssertionError(wrong);
        }
    }

    @Test
    public void a_lost_acknowledgement_is_sent_again_under_the_same_ids() {
        FleetClient client = withWindows(3);
        server.fault = (method, body) -> new Reply(503, "");
        assertEquals("http-503", client.flush().errorCode());
        assertEquals(3, client.waiting());
        server.fault = null;
        clock.passS(10_000);
        assertEquals(3, client.flush().accepted());
        assertEquals(0, client.waiting());
    }

    @Test
    public void a_batch_that_is_too_big_is_narrowed_to_the_stated_limit() {
        FleetClient client = withWindows(9);
        server.fault =
                (method, body) -> recordsIn(body) > 2 ? Reply.problem(413, "too-many-records", ", \"limit_items\": 2") : null;
        Flushed flushed = client.flush();
        assertEquals(9, flushed.accepted());
        assertEquals(9, server.records.size());
    }

    @Test
    public void one_record_that_the_server_cannot_take_does_not_hold_back_the_others() {
        FleetClient client = withWindows(5);
        server.fault = (method, body) -> recordsIn(body) > 1 || server.records.size() == 2 ? poisoned(body) : null;
        Flushed flushed = client.flush();
        assertEquals(0, client.waiting());
        assertEquals(5, flushed.accepted() + flushed.dropped());
        assertTrue(flushed.dropped() >= 1);
        assertEquals(Integer.valueOf(flushed.dropped()), client.dropped().get("refused"));
    }

    private static Reply poisoned(byte[] body) {
        return Reply.problem(400, "malformed-batch", "");
    }

    @Test
    public void records_of_a_report_that_the_server_lost_are_sent_again_after_an_upload() {
        FleetClient client = withWindows(2);
        server.fault =
                (method, body) ->
                        method.equals("POST") && server.reports.isEmpty()
                                ? new Reply(200, "{\"accepted\": 1, \"duplicate\": 0, \"set_aside\": [], "
                                        + "\"rejected\": [{\"index\": 1, \"reason\": \"unknown-report\"}]}")
                                : null;
        Flushed flushed = client.flush();
        assertEquals(2, flushed.accepted());
        assertEquals(1, server.reports.size());
        assertEquals(0, client.waiting());
    }

    @Test
    public void an_answer_without_a_verdict_for_every_record_forgets_nothing() {
        FleetClient client = withWindows(4);
        server.fault = (method, body) -> new Reply(200, "{\"accepted\": 1}");
        assertEquals("verdicts-missing", client.flush().errorCode());
        assertEquals(4, client.waiting());
        clock.passS(10_000);
        server.fault = (method, body) -> new Reply(200, "thanks!");
        assertEquals("unreadable-verdicts", client.flush().errorCode());
        assertEquals(4, client.waiting());
    }

    @Test
    public void a_full_buffer_gives_up_the_oldest_windows_and_counts_them() {
        FleetClient client = withWindows(client(server.transport(), clock).buffer(3, 1 << 20).build(), 10);
        assertTrue(client.waiting() <= 3);
        assertEquals(10, client.waiting() + client.dropped().get("window"));
    }

    @Test
    public void unsent_records_survive_a_restart_and_a_torn_line() throws IOException {
        withWindows(client(server.transport(), clock).folder(folder.getRoot()).build(), 3).close();
        File spool = new File(folder.getRoot(), "observations.ndjson");
        Files.write(spool.toPath(), "{\"record_id\": \"torn".getBytes(Json.UTF_8), StandardOpenOption.APPEND);
        FleetClient restarted = client(server.transport(), clock).folder(folder.getRoot()).build();
        assertEquals(3, restarted.waiting());
        assertEquals(3, restarted.flush().accepted());
        assertEquals(0, spool.length());
    }

    @Test
    public void a_spool_does_not_grow_without_bound() {
        FleetClient client = client(server.transport(), clock).folder(folder.getRoot()).buffer(5, 1 << 20).build();
        withWindows(client, 90);
        assertTrue(new File(folder.getRoot(), "observations.ndjson").length() < 100_000);
    }

    @Test
    public void a_folder_that_refuses_is_survived() throws IOException {
        File taken = folder.newFile("taken");
        FleetClient client = client(server.transport(), clock).folder(new File(taken, "below")).build();
        client.refresh();
        assertEquals(2, withWindows(client, 2).flush().accepted());
    }

    @Test
    public void a_disk_that_is_full_is_survived() throws IOException {
        for (String name : new String[] {"decision.json.new", "observations.ndjson", "suspects.json.new"}) {
            File own = folder.newFolder();
            FleetClient client = client(server.transport(), clock).folder(own).build();
            Files.createSymbolicLink(new File(own, name).toPath(), new File("/dev/full").toPath());
            client.refreshNow();
            assertEquals(41, client.decision("segmentation", Circumstances.UNKNOWN).release);
            server.records.clear();
            assertEquals(2, withWindows(client, 2).flush().accepted());
        }
    }

    @Test
    public void record_ids_are_unique_and_sort_by_time() {
        List<String> ids = new ArrayList<>();
        for (int second = 0; second < 100; second++) {
            ids.add(RecordId.at(1_780_000_000.0 + second, new java.util.Random(second)));
        }
        List<String> sorted = new ArrayList<>(ids);
        java.util.Collections.sort(sorted);
        assertEquals(ids, sorted);
        assertTrue(ids.get(0), ids.get(0).matches("[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"));
    }

    @Test
    public void a_poller_serves_every_client_when_it_is_due() {
        FleetClient client = withWindows(1);
        Poller poller = new Poller(java.util.Collections.singletonList(client), clock);
        assertTrue(poller.round() >= 60);
        assertEquals(1, client.waiting());
        clock.passS(3_700);
        poller.round();
        assertEquals(0, client.waiting());
    }
}
