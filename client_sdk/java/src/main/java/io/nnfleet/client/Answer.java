package io.nnfleet.client;

import java.util.Collections;
import java.util.Locale;
import java.util.Map;

/** What the server said, or why it said nothing: status 0 and a code ({@code timeout}, {@code network}, …). */
final class Answer {
    final int status;
    final byte[] body;
    private final Map<String, String> headers;
    private final String noAnswerCode;

    private Answer(int status, Map<String, String> headers, byte[] body, String noAnswerCode) {
        this.status = status;
        this.headers = headers;
        this.body = body;
        this.noAnswerCode = noAnswerCode;
    }

    /** Header names are lower-case. */
    static Answer of(int status, Map<String, String> headers, byte[] body) {
        return new Answer(status, headers, body, null);
    }

    static Answer none(String code) {
        return new Answer(0, Collections.<String, String>emptyMap(), new byte[0], code);
    }

    /** A header's value; empty where it was not sent. */
    String header(String lowerCaseName) {
        String value = headers.get(lowerCaseName);
        return value == null ? "" : value;
    }

    /** The RFC 9457 problem in the body; empty where there is none. */
    Map<String, Object> problem() {
        if (!header("content-type").startsWith("application/problem+json")) {
            return Collections.emptyMap();
        }
        try {
            return Json.object(body);
        } catch (JsonException garbage) {
            return Collections.emptyMap();
        }
    }

    /** A code for an answer that was no success: the problem's own, else {@code http-<status>} or why there was none. */
    String failureCode() {
        Object code = problem().get("code");
        if (code instanceof String) {
            return (String) code;
        }
        return noAnswerCode == null ? "http-" + status : noAnswerCode;
    }

    /** The server has now what was sent. A page for people is no server of ours: a portal says 200 to anything. */
    boolean worked() {
        boolean page = header("content-type").toLowerCase(Locale.ROOT).startsWith("text/html");
        return !page && (status == 200 || status == 201 || status == 204);
    }
}
