package io.nnfleet.client;

import static io.nnfleet.client.Builders.client;
import static io.nnfleet.client.RawServer.answer;
import static io.nnfleet.client.RawServer.ok;
import static io.nnfleet.client.RawServer.zipped;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URL;
import java.util.Arrays;
import java.util.Locale;
import org.junit.Rule;
import org.junit.Test;

/** What stands between a phone and the server (R-G2), over real sockets: proxies, portals, odd headers, half answers. */
public class HostileNetworkTest {
    private static final byte[] DOCUMENT = Builders.document().getBytes(Json.UTF_8);

    @Rule public final RawServer server = new RawServer();
    private final ManualClock clock = new ManualClock();

    private FleetClient asked() {
        FleetClient client = client(new Transport("http://" + server.address()), clock).build();
        assertEquals(Reason.FRESH, client.refresh().reason);
        clock.passS(100);
        return client;
    }

    /** What a refresh comes to that is answered so; the good document stays whatever it is. */
    private Refresh then(byte[] answered) {
        server.answer = ok(DOCUMENT);
        FleetClient client = asked();
        server.answer = answered;
        Refresh refreshed = client.refresh();
        assertEquals(41, client.decision("segmentation", Circumstances.UNKNOWN).release);
        return refreshed;
    }

    private String lastRequest() {
        return server.requests.get(server.requests.size() - 1).toLowerCase(Locale.ROOT);
    }

    @Test
    public void a_tag_that_no_request_can_carry_is_not_sent_back() {
        for (String tag : new String[] {"\"caf\u00e9\"", "\"" + new String(new char[2_000]).replace('\0', 'x') + "\""}) {
            server.answer = ok(DOCUMENT, "ETag: " + tag);
            assertEquals(Reason.FRESH, asked().refresh().reason);
            assertFalse(lastRequest().contains("if-none-match"));
        }
    }

    @Test
    public void a_tag_is_sent_back_as_it_came() {
        for (String tag : new String[] {"\"r41\"", "w/\"r41\"", "r41"}) {
            server.answer = ok(DOCUMENT, "ETag: " + tag);
            asked().refresh();
            assertTrue(lastRequest(), lastRequest().contains("if-none-match: " + tag + "\r\n"));
        }
    }

    @Test
    public void an_answer_in_gzip_is_read_and_asked_for() {
        FleetClient client = asked();
        server.answer = ok(zipped(Builders.document().replace("41", "42").getBytes(Json.UTF_8)), "Content-Encoding: gzip");
        assertEquals(Reason.FRESH, client.refresh().reason);
        assertEquals(42, client.decision("segmentation", Circumstances.UNKNOWN).release);
        assertTrue(lastRequest().contains("accept-encoding: gzip\r\n"));
    }

    @Test
    public void an_answer_that_is_none_leaves_the_good_document_and_says_why() {
        byte[] half = Arrays.copyOf(zipped(DOCUMENT), 200);
        byte[] none = new byte[0];
        assertEquals("answer-too-big", then(ok(zipped(new byte[8_000_000]), "Content-Encoding: gzip")).errorCode);
        assertEquals("network", then(ok(half, "Content-Encoding: gzip")).errorCode);
        assertEquals("network", then(ok(half, "Content-Encoding: GZIP")).errorCode);
        assertEquals("network", then(ok("no gzip".getBytes(Json.UTF_8), "Content-Encoding: gzip")).errorCode);
        assertEquals("network", then(answer("200 OK", Arrays.copyOf(DOCUMENT, 500), DOCUMENT.length)).errorCode);
        assertEquals("network", then(none).errorCode);
        assertEquals("unreadable-document", then(ok("<html>Sign in</html>".getBytes(Json.UTF_8))).errorCode);
        assertEquals("http-302", then(answer("302 Found", none, 0, "Location: http://127.0.0.1:9/")).errorCode);
        assertEquals(Reason.NOT_MODIFIED, then(answer("304 Not Modified", none, 0)).reason);
        assertEquals(Reason.NOT_MODIFIED, then(answer("304 Not Modified", none, 0, "Content-Encoding: gzip")).reason);
    }

    @Test
    public void an_answer_that_trickles_in_for_ever_is_given_up() {
        ManualClock racing =
                new ManualClock() {
                    @Override
                    public double monotonicS() {
                        passS(20); // each look at the clock is 20 s later
                        return super.monotonicS();
                    }
                };
        server.answer = ok(new byte[100_000]);
        FleetClient client = client(new Transport("http://" + server.address(), racing), clock).build();
        assertEquals("timeout", client.refresh().errorCode);
    }

    @Test
    public void a_server_that_cannot_prove_who_it_is_is_not_spoken_to() {
        FleetClient client = client(new Transport("https://" + server.address()), clock).build();
        assertEquals("network", client.refresh().errorCode);
        assertFalse(server.requests.get(0).contains("/v1/decisions"));
    }

    @Test
    public void an_app_that_may_no_longer_use_the_network_keeps_what_it_has() {
        Transport forbidden =
                new Transport("http://" + server.address()) {
                    @Override
                    protected HttpURLConnection open(URL url) throws IOException {
                        throw new SecurityException("Permission denied (missing INTERNET permission?)");
                    }
                };
        assertEquals("network", client(forbidden, clock).build().refresh().errorCode);
    }

    @Test
    public void an_expired_document_that_a_cache_calls_unchanged_is_not_asked_for_without_a_pause() {
        FleetClient client = asked();
        clock.passS(40 * 86_400.0);
        server.answer = answer("304 Not Modified", new byte[0], 0);
        Refresh refreshed = client.refresh();
        assertEquals(Reason.DEFAULT, refreshed.reason);
        assertEquals("nothing-to-confirm", refreshed.errorCode);
        assertTrue(refreshed.waitS >= 30);
    }

    @Test
    public void numbers_that_are_none_are_refused() {
        for (String number : new String[] {"NaN", "Infinity", "1e999"}) {
            String odd = Builders.document().replace("\"flush_s\": 3600", "\"flush_s\": " + number);
            assertEquals("unreadable-document", then(ok(odd.getBytes(Json.UTF_8))).errorCode);
        }
    }
}
