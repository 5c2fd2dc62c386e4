package io.nnfleet.client;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.Test;

/** JSON in and out. */
public class JsonTest {
    @Test
    public void what_is_written_is_read_back() throws Exception {
        Map<String, Object> value = new LinkedHashMap<>();
        value.put("text", "quote \" slash \\ line \n bell \u0007 grün 🙂");
        value.put("numbers", Arrays.asList(0L, -1L, 9_007_199_254_740_993L, 0.5, 1e-7));
        value.put("words", Arrays.asList(true, false, null));
        value.put("empty", new LinkedHashMap<>());
        assertEquals(value, Json.object(Json.bytes(value)));
    }

    @Test
    public void escapes_are_read() throws Exception {
        assertEquals("\"\\/\b\f\n\r\té🙂", JsonReader.read("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\ude42\""));
    }

    @Test
    public void what_is_no_json_is_refused() {
        String deep = new String(new char[100_000]).replace('\0', '[');
        for (String text : Arrays.asList("", "{", "[1,]", "{\"a\":}", "{a:1}", "nul", "1 2", "\"\\x\"", "\"\n\"", "1e999", deep)) {
            assertThrows(text, JsonException.class, () -> JsonReader.read(text));
        }
    }

    @Test
    public void bytes_that_are_no_text_are_refused() {
        assertThrows(JsonException.class, () -> Json.object(new byte[] {(byte) 0xFF, (byte) 0xFE}));
    }
}
