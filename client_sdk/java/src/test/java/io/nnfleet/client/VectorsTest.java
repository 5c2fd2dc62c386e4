package io.nnfleet.client;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.List;
import java.util.Map;
import org.junit.Test;

/** The vectors that all SDKs share (R-C9, R-D2). */
public class VectorsTest {
    private static final Path FOLDER = Paths.get(System.getProperty("nnfleet.vectors"));

    private static Map<String, Object> vectors(String file) throws Exception {
        return Json.object(Files.readAllBytes(FOLDER.resolve(file)));
    }

    @Test
    public void buckets_are_those_of_every_language() throws Exception {
        List<Object> rows = Json.list(vectors("assign.json").get("rows"));
        for (Object each : rows) {
            Map<String, Object> row = Json.object(each);
            String unitId = Assign.normaliseUnitId(Json.text(row.get("unit_id")));
            String salted = row.get("salt") + ":" + unitId;
            assertEquals(salted, row.get("hash"), Assign.murmur3(salted.getBytes(Json.UTF_8)) & 0xFFFFFFFFL);
            assertEquals(salted, row.get("bucket"), (long) Assign.bucketOf(Json.text(row.get("salt")), unitId));
        }
    }

    @Test
    public void latencies_fall_into_the_buckets_of_every_language() throws Exception {
        List<Object> rows = Json.list(vectors("histogram.json").get("buckets"));
        for (Object each : rows) {
            Map<String, Object> row = Json.object(each);
            assertEquals(row.toString(), row.get("bucket"), (long) Histogram.bucketIndex(Json.number(row.get("latency_us"))));
        }
    }

    @Test
    public void quantiles_are_those_of_every_language() throws Exception {
        List<Object> rows = Json.list(vectors("histogram.json").get("quantiles"));
        for (Object each : rows) {
            Map<String, Object> row = Json.object(each);
            Histogram histogram = new Histogram();
            for (Object latency : Json.list(row.get("latencies_us"))) {
                histogram.record(Json.number(latency));
            }
            double value = histogram.quantileUs(Json.number(row.get("quantile")));
            assertEquals(row.toString(), Json.number(row.get("value_us")), value, 1e-5 * value);
        }
    }

    @Test
    public void merging_adds_counts_whatever_the_order() {
        Histogram left = new Histogram();
        Histogram right = new Histogram();
        left.record(610);
        right.record(610);
        right.record(2_408);
        assertEquals(left.merge(right).counts(), right.merge(left).counts());
        assertEquals(3, left.merge(right).total());
        assertEquals(1, left.total());
    }

    @Test
    public void impossible_latencies_are_refused() {
        for (double latency : new double[] {-1, Double.NaN, Double.POSITIVE_INFINITY}) {
            assertThrows(IllegalArgumentException.class, () -> new Histogram().record(latency));
        }
    }

    @Test
    public void unit_ids_that_other_languages_would_hash_otherwise_are_refused() {
        for (String unitId : new String[] {"", "a\nb", "\ud800"}) {
            assertThrows(NnfleetClientException.InvalidUnitId.class, () -> Assign.normaliseUnitId(unitId));
        }
        assertEquals(Assign.normaliseUnitId("e\u0301"), Assign.normaliseUnitId("\u00e9"));
    }
}
