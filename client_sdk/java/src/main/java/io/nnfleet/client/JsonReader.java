package io.nnfleet.client;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads JSON (RFC 8259): maps in their order, lists, strings, {@code Long}, {@code Double}, {@code Boolean}, null. */
final class JsonReader {
    // A document nests eight levels; a reader that follows anything deeper could be made to overflow the stack.
    private static final int MOST_DEPTH = 64;

    private final String text;
    private int at;

    private JsonReader(String text) {
        this.text = text;
    }

    /** The value that is the whole text. */
    static Object read(String text) throws JsonException {
        JsonReader reader = new JsonReader(text);
        Object value = reader.value(0);
        reader.skipBlanks();
        if (reader.at != text.length()) {
            throw reader.refusal("more after the value");
        }
        return value;
    }

    private Object value(int depth) throws JsonException {
        if (depth > MOST_DEPTH) {
            throw refusal("too deep");
        }
        skipBlanks();
        switch (peek()) {
            case '{':
                return object(depth);
            case '[':
                return array(depth);
            case '"':
                return string();
            case 't':
                return word("true", Boolean.TRUE);
            case 'f':
                return word("false", Boolean.FALSE);
            case 'n':
                return word("null", null);
            default:
                return number();
        }
    }

    private Map<String, Object> object(int depth) throws JsonException {
        Map<String, Object> members = new LinkedHashMap<>();
        at++;
        if (takes('}')) {
            return members;
        }
        do {
            skipBlanks();
            String name = string();
            expect(':');
            members.put(name, value(depth + 1));
        } while (takes(','));
        expect('}');
        return members;
    }

    private List<Object> array(int depth) throws JsonException {
        List<Object> items = new ArrayList<>();
        at++;
        if (takes(']')) {
            return items;
        }
        do {
            items.add(value(depth + 1));
        } while (takes(','));
        expect(']');
        return items;
    }

    private String string() throws JsonException {
        if (peek() != '"') {
            throw refusal("a string expected");
        }
        at++;
        StringBuilder out = new StringBuilder();
        for (char character = next(); character != '"'; character = next()) {
            if (character < 0x20) {
                throw refusal("a control character in a string");
            }
            out.append(character == '\\' ? escaped() : character);
        }
        return out.toString();
    }

    private char escaped() throws JsonException {
        char escape = next();
        int plain = "\"\\/bfnrt".indexOf(escape);
        if (plain >= 0) {
            return "\"\\/\b\f\n\r\t".charAt(plain);
        }
        if (escape != 'u' || at + 4 > text.length()) {
            throw refusal("an unknown escape");
        }
        int code = 0;
        for (int digit = 0; digit < 4; digit++) {
            int value = Character.digit(next(), 16);
            if (value < 0) {
                throw refusal("no hexadecimal digit");
            }
            code = code << 4 | value;
        }
        return (char) code;
    }

    private Object number() throws JsonException {
        int start = at;
        boolean whole = true;
        while (at < text.length() && "+-.0123456789eE".indexOf(text.charAt(at)) >= 0) {
            whole &= ".eE".indexOf(text.charAt(at)) < 0;
            at++;
        }
        String digits = text.substring(start, at);
        try {
            if (whole && digits.length() <= 18) {
                return Long.valueOf(digits);
            }
            double value = Double.parseDouble(digits);
            if (!Double.isInfinite(value)) {
                return value;
            }
        } catch (NumberFormatException noNumber) {
            at = start;
        }
        throw refusal("no value");
    }

    private Object word(String word, Object meaning) throws JsonException {
        if (!text.startsWith(word, at)) {
            throw refusal("no value");
        }
        at += word.length();
        return meaning;
    }

    private boolean takes(char expected) {
        skipBlanks();
        boolean there = at < text.length() && text.charAt(at) == expected;
        at += there ? 1 : 0;
        return there;
    }

    private void expect(char expected) throws JsonException {
        if (!takes(expected)) {
            throw refusal("'" + expected + "' expected");
        }
    }

    private char peek() throws JsonException {
        if (at >= text.length()) {
            throw refusal("the text ends too early");
        }
        return text.charAt(at);
    }

    private char next() throws JsonException {
        char character = peek();
        at++;
        return character;
    }

    private void skipBlanks() {
        while (at < text.length() && " \t\n\r".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
    }

    private JsonException refusal(String why) {
        return new JsonException(why + " at character " + at);
    }
}
