package io.nnfleet.client;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/** JSON as bytes, and values of an expected kind out of it. */
final class Json {
    static final Charset UTF_8 = StandardCharsets.UTF_8;

    private Json() {}

    /** The object that is the whole of some bytes. */
    static Map<String, Object> object(byte[] bytes) throws JsonException {
        try {
            return object(JsonReader.read(UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString()));
        } catch (CharacterCodingException noText) {
            throw new JsonException("no UTF-8");
        }
    }

    @SuppressWarnings("unchecked") // the reader makes no map with other keys
    static Map<String, Object> object(Object value) throws JsonException {
        return (Map<String, Object>) typed(value, Map.class);
    }

    @SuppressWarnings("unchecked")
    static List<Object> list(Object value) throws JsonException {
        return (List<Object>) typed(value, List.class);
    }

    static String text(Object value) throws JsonException {
        return typed(value, String.class);
    }

    static long whole(Object value) throws JsonException {
        return typed(value, Long.class);
    }

    static double number(Object value) throws JsonException {
        return typed(value, Number.class).doubleValue();
    }

    private static <T> T typed(Object value, Class<T> kind) throws JsonException {
        if (!kind.isInstance(value)) {
            throw new JsonException(kind.getSimpleName() + " expected");
        }
        return kind.cast(value);
    }

    static byte[] bytes(Object value) {
        StringBuilder out = new StringBuilder();
        write(value, out);
        return out.toString().getBytes(UTF_8);
    }

    private static void write(Object value, StringBuilder out) {
        if (value instanceof Map) {
            writeMap((Map<?, ?>) value, out);
        } else if (value instanceof Iterable) {
            writeList((Iterable<?>) value, out);
        } else if (value == null || value instanceof Number || value instanceof Boolean) {
            out.append(value);
        } else {
            writeText(value.toString(), out);
        }
    }

    private static void writeMap(Map<?, ?> members, StringBuilder out) {
        char before = '{';
        for (Map.Entry<?, ?> member : members.entrySet()) {
            out.append(before);
            writeText(member.getKey().toString(), out);
            out.append(':');
            write(member.getValue(), out);
            before = ',';
        }
        out.append(members.isEmpty() ? "{}" : "}");
    }

    private static void writeList(Iterable<?> items, StringBuilder out) {
        out.append('[');
        String before = "";
        for (Object item : items) {
            out.append(before);
            write(item, out);
            before = ",";
        }
        out.append(']');
    }

    private static void writeText(String text, StringBuilder out) {
        out.append('"');
        for (int at = 0; at < text.length(); at++) {
            char character = text.charAt(at);
            if (character == '"' || character == '\\') {
                out.append('\\').append(character);
            } else if (character < 0x20) {
                out.append("\\u00").append(character < 0x10 ? "0" : "").append(Integer.toHexString(character));
            } else {
                out.append(character);
            }
        }
        out.append('"');
    }
}
