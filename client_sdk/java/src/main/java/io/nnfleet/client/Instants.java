package io.nnfleet.client;

import java.text.ParsePosition;
import java.text.SimpleDateFormat;
import java.util.Date;
import java.util.Locale;
import java.util.TimeZone;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Times as text. java.time came to Android with API 26. */
final class Instants {
    private static final Pattern RFC_3339 =
            Pattern.compile("(\\d{4}-\\d\\d-\\d\\d)[T ](\\d\\d:\\d\\d:\\d\\d)(\\.\\d{1,9})?(Z|[+-]\\d\\d:\\d\\d)");

    private Instants() {}

    /** An RFC 3339 time as seconds since 1970. Throws JsonException for anything else, a missing zone too. */
    static double rfc3339(String text) throws JsonException {
        Matcher parts = RFC_3339.matcher(text);
        if (!parts.matches()) {
            throw new JsonException("no time");
        }
        Date whole = parsed("yyyy-MM-dd HH:mm:ss", parts.group(1) + " " + parts.group(2));
        if (whole == null) {
            throw new JsonException("no time");
        }
        double fraction = parts.group(3) == null ? 0 : Double.parseDouble("0" + parts.group(3));
        return whole.getTime() / 1e3 + fraction - offsetS(parts.group(4));
    }

    private static int offsetS(String zone) {
        if (zone.equals("Z")) {
            return 0;
        }
        int minutes = Integer.parseInt(zone.substring(1, 3)) * 60 + Integer.parseInt(zone.substring(4));
        return (zone.charAt(0) == '-' ? -60 : 60) * minutes;
    }

    /** Seconds since 1970 of an HTTP date (RFC 9110 §5.6.7); null for anything else. */
    static Double httpDate(String text) {
        Date date = parsed("EEE, dd MMM yyyy HH:mm:ss 'GMT'", text);
        return date == null ? null : date.getTime() / 1e3;
    }

    /** A moment to the millisecond, in UTC, as {@code 2026-05-28T12:00:00.000Z}. */
    static String written(double seconds) {
        return format("yyyy-MM-dd'T'HH:mm:ss.SSS'Z'").format(new Date((long) Math.floor(seconds * 1000)));
    }

    private static Date parsed(String pattern, String text) {
        ParsePosition position = new ParsePosition(0);
        Date date = format(pattern).parse(text, position);
        return position.getIndex() == text.length() ? date : null;
    }

    private static SimpleDateFormat format(String pattern) {
        SimpleDateFormat format = new SimpleDateFormat(pattern, Locale.US);
        format.setTimeZone(TimeZone.getTimeZone("UTC"));
        format.setLenient(false);
        return format;
    }
}
