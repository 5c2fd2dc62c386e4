package io.nnfleet.client;

import java.io.ByteArrayInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.SocketTimeoutException;
import java.net.URL;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.zip.GZIPInputStream;

/** HTTP, and nothing but: a transport only sends. It keeps no state and decides nothing; several threads may share it. */
public class Transport {
    // The largest answer that is read: a captive portal may send anything.
    private static final int MOST_ANSWER_BYTES = 4 * 1024 * 1024;
    private static final int TIMEOUT_MS = 10_000;
    // For the whole of a body: one that comes a byte at a time, each in time, would hold the radio on for days.
    private static final double ANSWER_S = 30;

    private final String server;
    private final Clock clock;

    /** {@code server} is the base URL. */
    public Transport(String server) {
        this(server, Clock.SYSTEM);
    }

    Transport(String server, Clock clock) {
        this.server = server.endsWith("/") ? server.substring(0, server.length() - 1) : server;
        this.clock = clock;
    }

    /** Opens a connection; an app overrides this to add headers, a proxy or pinned certificates. */
    protected HttpURLConnection open(URL url) throws IOException {
        return (HttpURLConnection) url.openConnection();
    }

    /** {@code GET /v1/decisions/{app}/{report_id}}, conditional where an ETag is given. */
    Answer getDecision(String app, String reportId, String etag) {
        Map<String, String> headers = new HashMap<>();
        if (etag != null) {
            headers.put("If-None-Match", etag);
        }
        return send("GET", "/v1/decisions/" + quoted(app) + "/" + reportId, headers, null);
    }

    /** {@code PUT /v1/reports/{report_id}}: the exact bytes the id is the digest of. */
    Answer putReport(String reportId, byte[] report) {
        Map<String, String> headers = new HashMap<>();
        headers.put("Content-Type", "application/json");
        return send("PUT", "/v1/reports/" + reportId, headers, report);
    }

    /** {@code POST /v1/telemetry}: one batch of observations. */
    Answer postTelemetry(byte[] gzippedNdjson) {
        Map<String, String> headers = new HashMap<>();
        headers.put("Content-Type", "application/x-ndjson");
        headers.put("Content-Encoding", "gzip");
        return send("POST", "/v1/telemetry", headers, gzippedNdjson);
    }

    private Answer send(String method, String path, Map<String, String> headers, byte[] body) {
        double untilS = clock.monotonicS() + ANSWER_S;
        try {
            HttpURLConnection connection = open(new URL(server + path));
            connection.setRequestMethod(method);
            connection.setConnectTimeout(TIMEOUT_MS);
            connection.setReadTimeout(TIMEOUT_MS);
            connection.setUseCaches(false); // the store keeps its own copy; one behind its back would hide a 304
            connection.setInstanceFollowRedirects(false);
            connection.setRequestProperty("Accept-Encoding", "gzip"); // Android asks by itself, other JVMs do not
            for (Map.Entry<String, String> header : headers.entrySet()) {
                connection.setRequestProperty(header.getKey(), header.getValue());
            }
            return exchanged(connection, body, untilS);
        } catch (SocketTimeoutException slow) {
            return Answer.none("timeout");
        } catch (IOException | SecurityException broken) {
            return Answer.none("network"); // Android throws the latter where the permission INTERNET was taken away
        }
    }

    private Answer exchanged(HttpURLConnection connection, byte[] body, double untilS) throws IOException {
        boolean whole = false;
        try {
            write(connection, body);
            Answer answer = read(connection, untilS);
            whole = answer.status > 0;
            return answer;
        } finally {
            if (!whole) {
                connection.disconnect(); // else what is left of the answer would be read for the next request's sake
            }
        }
    }

    private static void write(HttpURLConnection connection, byte[] body) throws IOException {
        if (body == null) {
            return;
        }
        connection.setDoOutput(true);
        connection.setFixedLengthStreamingMode(body.length);
        try (OutputStream out = connection.getOutputStream()) {
            out.write(body);
        }
    }

    private Answer read(HttpURLConnection connection, double untilS) throws IOException {
        int status = connection.getResponseCode();
        if (status < 0) {
            throw new IOException("no HTTP");
        }
        Map<String, String> headers = lowerCaseHeaders(connection);
        try (InputStream in = status >= 400 ? connection.getErrorStream() : connection.getInputStream()) {
            byte[] sent = in == null ? new byte[0] : AtomicFiles.readAll(new UntilStream(in, clock, untilS), MOST_ANSWER_BYTES);
            // The JDK takes a connection that breaks off for the end of the answer.
            if (sent != null && status == 200 && sent.length < connection.getContentLength()) {
                throw new EOFException("half an answer");
            }
            byte[] body = "gzip".equalsIgnoreCase(headers.get("content-encoding")) ? inflated(sent) : sent;
            return body == null ? Answer.none("answer-too-big") : Answer.of(status, headers, body);
        }
    }

    /** Null where it is too big, before or after. */
    private static byte[] inflated(byte[] sent) throws IOException {
        if (sent == null || sent.length == 0) {
            return sent;
        }
        try (InputStream in = new GZIPInputStream(new ByteArrayInputStream(sent))) {
            return AtomicFiles.readAll(in, MOST_ANSWER_BYTES);
        }
    }

    private static Map<String, String> lowerCaseHeaders(HttpURLConnection connection) {
        Map<String, String> headers = new HashMap<>();
        for (Map.Entry<String, List<String>> header : connection.getHeaderFields().entrySet()) {
            if (header.getKey() != null) {
                headers.put(header.getKey().toLowerCase(Locale.ROOT), header.getValue().get(0));
            }
        }
        return headers;
    }

    /** Percent-encoded, blanks too: what URLEncoder writes is for forms. */
    private static String quoted(String name) {
        StringBuilder out = new StringBuilder();
        for (byte part : name.getBytes(Json.UTF_8)) {
            boolean plain = part > 0 && (Character.isLetterOrDigit(part) || "-._~".indexOf(part) >= 0);
            out.append(plain ? String.valueOf((char) part) : String.format(Locale.ROOT, "%%%02X", part & 0xFF));
        }
        return out.toString();
    }
}
