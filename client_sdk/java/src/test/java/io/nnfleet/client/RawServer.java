package io.nnfleet.client;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.ArrayList;
import java.util.zip.GZIPOutputStream;
import org.junit.rules.ExternalResource;

/** Answers every request with the bytes it is told to, and hangs up. */
final class RawServer extends ExternalResource {
    volatile byte[] answer = ok(Builders.document().getBytes(Json.UTF_8));
    final List<String> requests = Collections.synchronizedList(new ArrayList<>());
    private ServerSocket listener;

    @Override
    protected void before() throws IOException {
        listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        Thread thread = new Thread(this::serve, "raw server");
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    protected void after() {
        try {
            listener.close();
        } catch (IOException already) {
            throw new AssertionError(already);
        }
    }

    String address() {
        return "127.0.0.1:" + listener.getLocalPort();
    }

    private void serve() {
        while (!listener.isClosed()) {
            try (Socket connection = listener.accept()) {
                InputStream in = connection.getInputStream();
                byte[] request = new byte[65_536];
                int count = in.read(request);
                requests.add(new String(request, 0, Math.max(0, count), StandardCharsets.ISO_8859_1));
                connection.getOutputStream().write(answer);
            } catch (IOException gone) {
                continue; // the client has heard enough, or the test is over
            }
        }
    }

    static byte[] ok(byte[] body, String... headers) {
        return answer("200 OK", body, body.length, headers);
    }

    static byte[] answer(String status, byte[] body, int size, String... headers) {
        List<String> head = new ArrayList<>(Arrays.asList("HTTP/1.1 " + status, "Content-Length: " + size, "Connection: close"));
        head.addAll(Arrays.asList(headers));
        byte[] start = (String.join("\r\n", head) + "\r\n\r\n").getBytes(StandardCharsets.ISO_8859_1);
        byte[] whole = Arrays.copyOf(start, start.length + body.length);
        System.arraycopy(body, 0, whole, start.length, body.length);
        return whole;
    }

    static byte[] zipped(byte[] plain) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (GZIPOutputStream zip = new GZIPOutputStream(out)) {
            zip.write(plain);
        } catch (IOException impossible) {
            throw new AssertionError(impossible);
        }
        return out.toByteArray();
    }
}
