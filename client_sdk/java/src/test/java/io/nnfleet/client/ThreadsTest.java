package io.nnfleet.client;

import static io.nnfleet.client.Builders.client;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

/** Several threads of an app on one client: every use is told of once, and none is taken for a crash (R-D6). */
public class ThreadsTest {
    private static final int USES = 40;
    private static final int THREADS = 4;

    @Rule public final FakeServer server = new FakeServer();
    @Rule public final TemporaryFolder folder = new TemporaryFolder();

    @Test
    public void uses_refreshes_and_flushes_at_once_lose_nothing_and_double_nothing() throws Exception {
        ManualClock clock = new ManualClock();
        FleetClient client = client(server.transport(), clock).folder(folder.getRoot()).build();
        client.refresh();
        Callable<Void> useAndSend =
                () -> {
                    for (int number = 0; number < USES; number++) {
                        client.use("segmentation", new FakeRunner(), 2, Circumstances.UNKNOWN, null);
                        if (number % 10 == 0) {
                            client.refreshNow();
                            client.flush();
                        }
                    }
                    return null;
                };
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        List<Future<Void>> ends = new ArrayList<>();
        for (int thread = 0; thread < THREADS; thread++) {
            ends.add(threads.submit(useAndSend));
        }
        for (Future<Void> end : ends) {
            end.get();
        }
        threads.shutdown();
        client.flush();
        assertEquals(USES * THREADS, server.records.size());
        assertTrue(server.records.values().stream().allMatch(record -> record.get("kind").equals("window")));
        assertEquals(0, client.waiting());
        assertTrue(client.dropped().isEmpty());
        client.close();
        assertEquals(0, client(server.transport(), clock).folder(folder.getRoot()).build().waiting());
        assertEquals("{}", new String(Files.readAllBytes(folder.getRoot().toPath().resolve("suspects.json")), Json.UTF_8));
    }
}
