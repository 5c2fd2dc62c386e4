package io.nnfleet.client;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPInputStream;
import org.junit.rules.ExternalResource;

/** Three routes on loopback, over what is known and what was sent; a fault takes the place of the next answers. */
final class FakeServer extends ExternalResource {
    byte[] document = Builders.document().getBytes(Json.UTF_8);
    final Map<String, String> headers = new HashMap<>();
    final Map<String, byte[]> reports = new HashMap<>();
    final Map<String, Map<String, Object>> records = new LinkedHashMap<>();
    final List<String> calls = new ArrayList<>();
    Fault fault;
    private HttpServer server;

    /** An answer that is not the honest one; null lets a request through. */
    interface Fault {
        Reply to(String method, byte[] body);
    }

    static final class Reply {
        final int status;
        final byte[] body;
        final Map<String, String> headers = new HashMap<>();

        Reply(int status, String body) {
            this.status = status;
            this.body = body.getBytes(Json.UTF_8);
        }

        Reply header(String name, String value) {
            headers.put(name, value);
            return this;
        }

        static Reply problem(int status, String code, String more) {
            String body = "{\"code\": \"" + code + "\", \"status\": " + status + more + "}";
            return new Reply(status, body).header("Content-Type", "application/problem+json");
        }
    }

    @Override
    protected void before() throws IOException {
        headers.put("Cache-Control", "public, max-age=60");
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", this::handle);
        server.start();
    }

    @Override
    protected void after() {
        server.stop(0);
    }

    Transport transport() {
        return new Transport("http://127.0.0.1:" + server.getAddress().getPort() + "/");
    }

    private synchronized void handle(HttpExchange exchange) throws IOException {
        byte[] body = exchange.getRequestBody().readAllBytes();
        calls.add(exchange.getRequestMethod());
        Reply reply = fault == null ? null : fault.to(exchange.getRequestMethod(), body);
        send(exchange, reply == null ? honest(exchange, body) : reply);
    }

    private Reply honest(HttpExchange exchange, byte[] body) throws IOException {
        String path = exchange.getRequestURI().getRawPath();
        String last = path.substring(path.lastIndexOf('/') + 1);
        switch (exchange.getRequestMethod()) {
            case "PUT":
                reports.put(last, body);
                return new Reply(201, "");
            case "POST":
                return telemetry(body);
            default:
                return reports.containsKey(last) ? decision(exchange) : Reply.problem(404, "unknown-report", "");
        }
    }

    private Reply decision(HttpExchange exchange) {
        String etag = "\"" + Digests.sha256Hex(document).substring(0, 8) + "\"";
        boolean same = etag.equals(exchange.getRequestHeaders().getFirst("If-None-Match"));
        Reply reply = new Reply(same ? 304 : 200, same ? "" : new String(document, Json.UTF_8)).header("ETag", etag);
        reply.headers.putAll(headers);
        return reply;
    }

    private Reply telemetry(byte[] body) throws IOException {
        int accepted = 0;
        List<Map<String, Object>> sent = sentRecords(body);
        for (Map<String, Object> record : sent) {
            accepted += records.put((String) record.get("record_id"), record) == null ? 1 : 0;
        }
        return new Reply(200, "{\"accepted\": " + accepted + ", \"duplicate\": " + (sent.size() - accepted) + "}");
    }

    static List<Map<String, Object>> sentRecords(byte[] body) throws IOException {
        String lines = new String(new GZIPInputStream(new ByteArrayInputStream(body)).readAllBytes(), Json.UTF_8);
        List<Map<String, Object>> records = new ArrayList<>();
        for (String line : lines.split("\n")) {
            records.add(Builders.json(line));
        }
        return records;
    }

    private static void send(HttpExchange exchange, Reply reply) throws IOException {
        for (Map.Entry<String, String> header : reply.headers.entrySet()) {
            exchange.getResponseHeaders().set(header.getKey(), header.getValue());
        }
        exchange.sendResponseHeaders(reply.status, reply.body.length == 0 ? -1 : reply.body.length);
        if (reply.body.length > 0) {
            exchange.getResponseBody().write(reply.body);
        }
        exchange.close();
    }
}
