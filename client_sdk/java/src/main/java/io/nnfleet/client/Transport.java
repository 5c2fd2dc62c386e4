package io.nnfleet.client;

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

/** HTTP, and nothing but: a transport only sends. It keeps no state and decides nothing; several threads may share it. */
public class Transport {
    // The largest answer that is read: a captive portal may send anything.
    private static final int MOST_ANSWER_BYTES = 4 * 1024 * 1024;
    private static final int TIMEOUT_MS = 10_000;

    private final String server;

    /** {@code server} is the base URL. */
    public Transport(String server) {
        this.server = server.endsWith("/") ? server.substring(0, server.length() - 1) : server;
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
        try {
            HttpURLConnection connection = open(new URL(server + path));
            connection.setRequestMethod(method);
            connection.setConnectTimeout(TIMEOUT_MS);
            connection.setReadTimeout(TIMEOUT_MS);
            connection.setUseCaches(false); // the store keeps its own copy; one behind its back would hide a 304
            connection.setInstanceFollowRedirects(false);
            for (Map.Entry<String, String> header : headers.entrySet()) {
                connection.setRequestProperty(header.getKey(), header.getValue());
            }
            write(connection, body);
            return read(connection);
        } catch (SocketTimeoutException slow) {
            return Answer.none("timeout");
        } catch (IOException broken) {
            return Answer.none("network");
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

    private static Answer read(HttpURLConnection connection) throws IOException {
        int status = connection.getResponseCode();
        try (InputStream in = status >= 400 ? connection.getErrorStream() : connection.getInputStream()) {
            byte[] body = in == null ? new byte[0] : AtomicFiles.readAll(in, MOST_ANSWER_BYTES);
            if (body == null) {
                connection.disconnect();
                return Answer.none("answer-too-big");
            }
            return Answer.of(status, lowerCaseHeaders(connection), body);
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
