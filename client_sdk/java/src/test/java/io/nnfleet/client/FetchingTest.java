package io.nnfleet.client;

import static io.nnfleet.client.Builders.client;
import static io.nnfleet.client.Builders.document;
import static io.nnfleet.client.Builders.model;
import static io.nnfleet.client.Builders.split;
import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import java.util.Arrays;
import java.util.Collections;
import org.junit.Rule;
import org.junit.Test;

/** Fetching decisions over HTTP (R-G2): nothing but a better document replaces one. */
public class FetchingTest {
    @Rule public final FakeServer server = new FakeServer();
    private final ManualClock clock = new ManualClock();

    private FleetClient fresh() {
        FleetClient client = client(server.transport(), clock).build();
        client.refresh();
        return client;
    }

    private static Plan plan(FleetClient client) {
        return client.decision("segmentation", Circumstances.UNKNOWN);
    }

    @Test
    public void an_unknown_report_is_uploaded_once_in_its_exact_bytes() {
        FleetClient client = fresh();
        assertEquals(Arrays.asList("GET", "PUT", "GET"), server.calls);
        assertArrayEquals(Builders.REPORT, server.reports.get(client.reportId()));
        assertEquals(Reason.FRESH, plan(client).reason);
        assertEquals(41, plan(client).release);
    }

    @Test
    public void a_fresh_document_is_not_asked_for_again_and_a_stale_one_is_confirmed() {
        FleetClient client = fresh();
        assertFalse(client.refresh().asked);
        clock.passS(100);
        assertEquals(Reason.STALE, plan(client).reason);
        assertEquals(Reason.NOT_MODIFIED, client.refresh().reason);
        assertEquals(Reason.NOT_MODIFIED, plan(client).reason);
    }

    @Test
    public void before_the_first_answer_the_bundled_default_serves() {
        FleetClient client = client(server.transport(), clock).build();
        assertEquals(Reason.DEFAULT, plan(client).reason);
        assertEquals("no-document", plan(client).errorCode);
        assertEquals(0, plan(client).release);
    }

    @Test
    public void no_failure_wipes_a_good_document() {
        for (int status : new int[] {301, 400, 401, 403, 404, 429, 500, 503}) {
            server.fault = null;
            FleetClient client = fresh();
            clock.passS(100);
            server.fault = (method, body) -> new FakeServer.Reply(status, "trouble");
            assertEquals("http-" + status, client.refresh().errorCode);
            assertEquals(Reason.STALE, plan(client).reason);
            assertEquals(41, plan(client).release);
        }
    }

    @Test
    public void a_captive_portal_and_an_endless_answer_are_refused() {
        FleetClient client = fresh();
        clock.passS(100);
        server.fault = (method, body) -> new FakeServer.Reply(200, "<html>Sign in</html>");
        assertEquals("unreadable-document", client.refresh().errorCode);
        clock.passS(10_000);
        server.fault = (method, body) -> new FakeServer.Reply(200, new String(new char[5_000_000]).replace('\0', 'x'));
        assertEquals("answer-too-big", client.refresh().errorCode);
        assertEquals(41, plan(client).release);
    }

    @Test
    public void a_portal_that_takes_the_report_has_not_got_it() {
        server.fault =
                (method, body) ->
                        method.equals("PUT") ? new FakeServer.Reply(200, "Sign in").header("Content-Type", "Text/HTML") : null;
        assertEquals("unreadable-document", client(server.transport(), clock).build().refresh().errorCode);
        assertEquals(Arrays.asList("GET", "PUT"), server.calls);
    }

    @Test
    public void an_outage_is_not_hammered_and_a_retry_after_is_honoured() {
        FleetClient client = fresh();
        clock.passS(100);
        server.fault = (method, body) -> new FakeServer.Reply(503, "").header("Retry-After", "500");
        assertTrue(client.refresh().waitS >= 500);
        clock.passS(450);
        assertFalse(client.refresh().asked);
        clock.passS(400);
        assertTrue(client.refresh().asked);
    }

    @Test
    public void an_older_release_is_never_taken_up() {
        FleetClient client = fresh();
        server.document = document(model(split(10_000, Builders.CPU)), 40).getBytes(Json.UTF_8);
        assertEquals("lower-release", client.refreshNow().errorCode);
        assertEquals(41, plan(client).release);
    }

    @Test
    public void a_document_past_its_end_is_not_used_and_not_asked_to_be_confirmed() {
        FleetClient client = fresh();
        clock.passS(40 * 86_400.0);
        assertEquals(Reason.DEFAULT, plan(client).reason);
        assertEquals("expired-document", client.refresh().errorCode);
    }

    @Test
    public void a_wall_clock_that_went_back_makes_it_ask() {
        FleetClient client = fresh();
        clock.jumpWallS(-3_600);
        assertTrue(client.refresh().asked);
    }

    @Test
    public void nobody_at_the_other_end_is_a_code() {
        FleetClient client = client(new Transport("http://127.0.0.1:9"), clock).build();
        assertEquals("network", client.refresh().errorCode);
        assertEquals("network", plan(client).errorCode);
    }

    @Test
    public void headers_are_read_without_trust() {
        for (String[] each :
                new String[][] {
                    {"max-age=600", "600"}, {"public, MAX-AGE=\"90\"", "90"}, {"no-store", "5"}, {"max-age=0", "5"},
                    {"max-age=99999999", "86400"}, {"max-age=-1", "60"}, {"", "60"}, {"max-age=9999999999999", "60"}
                }) {
            Answer answer = Answer.of(200, Collections.singletonMap("cache-control", each[0]), new byte[0]);
            assertEquals(each[0], Double.parseDouble(each[1]), Headers.freshForS(answer), 0);
        }
    }

    @Test
    public void a_wait_may_be_a_date() {
        Answer answer =
                Answer.of(503, Collections.singletonMap("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT"), new byte[0]);
        assertEquals(37, Headers.retryAfterS(answer, 784_111_740), 0);
        assertEquals(0, Headers.retryAfterS(answer, 784_111_800), 0);
    }

    @Test
    public void a_client_with_a_key_refuses_what_is_not_signed() {
        FleetClient client = client(server.transport(), clock).trustedKey("k1", new byte[32]).build();
        assertEquals("unsigned", client.refresh().errorCode);
        assertNull(plan(client).golden);
        assertEquals(Reason.DEFAULT, plan(client).reason);
    }
}
