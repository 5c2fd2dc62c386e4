package io.nnfleet.client;

import java.util.Locale;
import java.util.regex.Pattern;

/** The HTTP headers a client obeys, read without trust: garbage is "not said". */
final class Headers {
    private static final double DEFAULT_FRESH_S = 60;
    // A server's slip (max-age=0, max-age=31536000, Retry-After: 999999999) must neither hammer it nor silence a fleet.
    private static final double LEAST_FRESH_S = 5;
    private static final double MOST_FRESH_S = 86_400;
    private static final double MOST_RETRY_AFTER_S = 86_400;
    // What is sent back in a header must be what a header may hold: Android throws for anything else, at every later request.
    private static final Pattern SENDABLE = Pattern.compile("[\\x20-\\x7e]{1,512}");

    private Headers() {}

    /** The ETag to ask with next time; null where there is none, or none that may be sent back. */
    static String etag(Answer answer) {
        return sendable(answer.header("etag").trim());
    }

    /** The tag, if it is printable ASCII of at most 512 characters; else null. */
    static String sendable(String tag) {
        return SENDABLE.matcher(tag).matches() ? tag : null;
    }

    /**
     * How long an answer counts as fresh: {@code Cache-Control: max-age} less the {@code Age} it spent in caches on its way.
     * Bounded to 5 s…1 day; 60 s where nothing is said (RFC 9111 §4.2).
     */
    static double freshForS(Answer answer) {
        Long maxAgeS = maxAgeS(answer.header("cache-control"));
        if (maxAgeS == null) {
            return DEFAULT_FRESH_S;
        }
        Long ageS = wholeSeconds(answer.header("age"));
        return Math.min(MOST_FRESH_S, Math.max(LEAST_FRESH_S, maxAgeS - (ageS == null ? 0 : ageS)));
    }

    /** The wait a Retry-After asks for, in seconds or as a date (RFC 9110 §10.2.3), at most a day; 0 if unsaid. */
    static double retryAfterS(Answer answer, double nowS) {
        String text = answer.header("retry-after").trim();
        Long waitS = wholeSeconds(text);
        if (waitS != null) {
            return Math.min(MOST_RETRY_AFTER_S, waitS);
        }
        Double untilS = Instants.httpDate(text);
        return untilS == null ? 0 : Math.min(MOST_RETRY_AFTER_S, Math.max(0, untilS - nowS));
    }

    private static Long maxAgeS(String cacheControl) {
        for (String part : cacheControl.split(",")) {
            String directive = part.trim().toLowerCase(Locale.ROOT);
            if (directive.equals("no-store") || directive.equals("no-cache")) {
                return 0L;
            }
            if (directive.startsWith("max-age=")) {
                return wholeSeconds(directive.substring("max-age=".length()).replace("\"", ""));
            }
        }
        return null;
    }

    // Nine digits are thirty years: more is a slip.
    private static Long wholeSeconds(String text) {
        String digits = text.trim();
        return digits.matches("[0-9]{1,9}") ? Long.valueOf(digits) : null;
    }
}
