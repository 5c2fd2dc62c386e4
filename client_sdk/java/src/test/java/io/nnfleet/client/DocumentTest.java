package io.nnfleet.client;

import static io.nnfleet.client.Builders.CPU;
import static io.nnfleet.client.Builders.NPU;
import static io.nnfleet.client.Builders.document;
import static io.nnfleet.client.Builders.model;
import static io.nnfleet.client.Builders.split;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;

import java.util.Arrays;
import org.junit.Test;

/** Reading the decision document: garbage is named, never half taken up. */
public class DocumentTest {
    private static String codeOf(String body) {
        return assertThrows(body, UnreadableDocument.class, () -> DocumentReader.read(body.getBytes(Json.UTF_8))).code;
    }

    @Test
    public void fields_of_a_newer_server_are_ignored() throws Exception {
        String newer = document().replaceFirst("\\{", "{\"mood\": \"sunny\", ");
        assertEquals(41, DocumentReader.read(newer.getBytes(Json.UTF_8)).release);
    }

    @Test
    public void a_newer_schema_is_refused_by_its_own_code() {
        assertEquals("unknown-schema", codeOf(document().replace("\"schema\": 1", "\"schema\": 2")));
    }

    @Test
    public void what_is_no_document_is_refused() {
        for (String body : Arrays.asList("", "<html>Sign in to the Wi-Fi</html>", "[]", "{}", "{\"schema\": 1}")) {
            assertEquals("unreadable-document", codeOf(body));
        }
    }

    @Test
    public void a_field_of_another_type_is_refused() {
        assertEquals("unreadable-document", codeOf(document().replace("\"release\": 41", "\"release\": \"41\"")));
        assertEquals("unreadable-document", codeOf(document().replace("\"release\": 41", "\"release\": 41.0")));
        assertEquals("unreadable-document", codeOf(document().replace("2026-06-27T00:00:00Z", "2026-06-27T00:00:00")));
        assertEquals("unreadable-document", codeOf(document().replace("2026-06-27T00:00:00Z", "2026-13-27T00:00:00Z")));
        assertEquals("unreadable-document", codeOf(document().replace("\"sample\": 1.0", "\"sample\": \"all\"")));
    }

    @Test
    public void a_model_that_does_not_hold_together_sinks_the_document() {
        for (String broken :
                Arrays.asList(
                        model(split(9_999, CPU)),
                        model(split(9_000, CPU), split(1_001, NPU)),
                        model(split(-1, CPU), split(10_001, NPU)),
                        model(split(10_000, "an arm that is not there")),
                        model(split(10_000, CPU).replace("[\"" + CPU + "\"]", "[]")),
                        model(split(10_000, CPU)).replace("\"plan\": \"main\"", "\"plan\": \"lost\""))) {
            assertEquals("unreadable-document", codeOf(document(broken, 41)));
        }
    }

    @Test
    public void times_are_read_with_their_zone_and_fraction() throws Exception {
        assertEquals(1_780_000_000.0, Instants.rfc3339("2026-05-28T20:26:40Z"), 0);
        assertEquals(1_780_000_000.25, Instants.rfc3339("2026-05-28T22:26:40.25+02:00"), 0);
        assertEquals("2026-05-28T20:26:40.250Z", Instants.written(1_780_000_000.25));
        assertEquals(784_111_777.0, Instants.httpDate("Sun, 06 Nov 1994 08:49:37 GMT"), 0);
    }
}
