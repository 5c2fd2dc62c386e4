package io.nnfleet.client;

import static io.nnfleet.client.Builders.client;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNotEquals;
import static org.junit.Assert.assertNull;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

/** Several clients of one folder (R-G2, R-D5): none loses another's observations, or takes its running starts for crashes. */
public class RoomTest {
    @Rule public final FakeServer server = new FakeServer();
    @Rule public final TemporaryFolder folder = new TemporaryFolder();

    private FleetClient here() {
        return client(server.transport(), new ManualClock()).folder(folder.getRoot()).build();
    }

    private static void use(FleetClient client) {
        client.use("segmentation", new FakeRunner(), 1, Circumstances.UNKNOWN, null);
    }

    private Process other() throws IOException {
        String java = System.getProperty("java.home") + "/bin/java";
        String classes = System.getProperty("java.class.path");
        return new ProcessBuilder(java, "-cp", classes, "io.nnfleet.client.HolderProgram", folder.getRoot().getPath()).start();
    }

    private List<Object> sentBy(FleetClient client) {
        client.flush();
        List<Object> kinds = new ArrayList<>();
        server.records.values().forEach(record -> kinds.add(record.get("kind")));
        return kinds;
    }

    @Test
    public void a_start_that_goes_on_in_another_process_is_not_taken_for_a_crash() throws Exception {
        Process other = other();
        BufferedReader said = new BufferedReader(new InputStreamReader(other.getInputStream(), Json.UTF_8));
        assertEquals("started", said.readLine());
        FleetClient client = here();
        assertEquals(new ArrayList<>(), sentBy(client));
        other.getOutputStream().write('\n');
        other.getOutputStream().close();
        assertEquals("1", said.readLine());
        other.waitFor();
        client.close();
        assertEquals(1, here().waiting()); // what the other one could not send
    }

    /** Another process that was killed in the middle of a start. */
    private void killed() throws Exception {
        Process other = other();
        BufferedReader said = new BufferedReader(new InputStreamReader(other.getInputStream(), Json.UTF_8));
        assertEquals("started", said.readLine());
        other.destroyForcibly().waitFor();
    }

    private Map<String, Object> suspects() throws Exception {
        return Json.object(Files.readAllBytes(new File(folder.getRoot(), "suspects.json").toPath()));
    }

    @Test
    public void what_a_killed_process_left_is_taken_up_by_the_next() throws Exception {
        killed();
        assertEquals(Collections.<Object>singletonList("attempt"), sentBy(here()));
        assertEquals(1, suspects().size());
    }

    @Test
    public void a_process_that_its_user_ended_has_not_crashed() throws Exception {
        killed();
        FleetClient client = client(server.transport(), new ManualClock()).folder(folder.getRoot()).endedFromOutside(true).build();
        assertEquals(0, client.waiting());
        assertEquals(0, suspects().size());
        client.close();
        assertEquals(0, here().waiting()); // it is gone from the disk too
    }

    @Test
    public void a_crash_stays_a_crash_however_the_process_after_it_ends() throws Exception {
        killed();
        here().close();
        FleetClient client = client(server.transport(), new ManualClock()).folder(folder.getRoot()).endedFromOutside(true).build();
        assertEquals(1, client.waiting());
        assertEquals(1, suspects().size());
    }

    @Test
    public void two_clients_in_one_process_keep_apart() {
        FleetClient first = here();
        FleetClient second = here();
        use(first);
        use(second);
        use(first);
        assertEquals(2, first.waiting());
        assertEquals(1, second.waiting());
        first.close();
        assertEquals(2, here().waiting());
    }

    @Test
    public void where_all_rooms_are_taken_nothing_is_kept_on_disk() {
        List<Room> rooms = new ArrayList<>();
        Set<File> folders = new HashSet<>();
        for (int taken = 0; taken < 8; taken++) {
            rooms.add(new Room(folder.getRoot()));
            folders.add(rooms.get(taken).folder());
        }
        assertEquals(8, folders.size());
        assertNull(new Room(folder.getRoot()).folder());
        rooms.get(3).close();
        assertEquals("room-4", new Room(folder.getRoot()).folder().getName());
    }

    @Test
    public void closing_twice_does_not_close_what_another_one_opened() {
        Room room = new Room(folder.getRoot());
        room.close();
        Room again = new Room(folder.getRoot());
        room.close();
        assertNotEquals(again.folder(), new Room(folder.getRoot()).folder());
    }

    @Test
    public void between_rounds_the_radio_sleeps_and_each_waking_serves_both() {
        ManualClock clock = new ManualClock();
        server.document = Builders.document().replace("3600", "2000").getBytes(Json.UTF_8);
        FleetClient client = client(server.transport(), clock).build();
        client.refresh();
        use(client);
        Poller poller = new Poller(Collections.singletonList(client), clock);
        for (int round = 0; round < 3; round++) {
            assertEquals(900, poller.round(), 0);
            clock.passS(900);
        }
        assertEquals("POST", server.calls.get(server.calls.size() - 1)); // at 1,800 s: at 2,000 s it would have been woken for it
    }
}
