package io.nnfleet.client;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Collections;
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
    public void buckets_fall_into_the_splits_of_every_language() throws Exception {
        for (Object each : Json.list(vectors("assign.json").get("splits"))) {
            Map<String, Object> row = Json.object(each);
            List<DecisionDocument.Split> splits = new ArrayList<>();
            for (Object weight : Json.list(row.get("weights"))) {
                splits.add(new DecisionDocument.Split((int) Json.number(weight), Collections.singletonList("cpu"), false));
            }
            assertEquals(row.toString(), row.get("split"), (long) Assign.splitAt(splits, (int) Json.number(row.get("bucket"))));
        }
    }

    @Test
    public void merging_adds_counts_whatever_the_order() throws Exception {
        for (Object each : Json.list(vectors("histogram.json").get("merges"))) {
            Map<String, Object> row = Json.object(each);
            Histogram left = histogram(row.get("left"));
            Histogram right = histogram(row.get("right"));
            Histogram merged = histogram(row.get("merged"));
            assertEquals(row.toString(), merged.counts(), left.merge(right).counts());
            assertEquals(row.toString(), merged.counts(), right.merge(left).counts());
        }
    }

    /** One whose counts by bucket are these. */
    private static Histogram histogram(Object counts) throws JsonException {
        Histogram histogram = new Histogram();
        for (Map.Entry<String, Object> entry : Json.object(counts).entrySet()) {
            for (long run = 0; run < Json.number(entry.getValue()); run++) {
                histogram.record(Histogram.bucketValueUs(Integer.parseInt(entry.getKey())));
            }
        }
        return histogram;
    }

    @Test
    public void impossible_latencies_are_refused() {
        for (double latency : new double[] {-1, Double.NaN, Double.POSITIVE_INFINITY}) {
            assertThrows(IllegalArgumentException.class, () -> new Histogram().record(latency));
        }
    }

    @Test
    public void unit_ids_that_other_languages_would_hash_otherwise_are_refused() throws Exception {
        List<Object> refused = new ArrayList<>(Json.list(vectors("assign.json").get("refused_unit_ids")));
        refused.add("\ud800"); // which no JSON file can hold
        for (Object unitId : refused) {
            assertThrows(NnfleetClientException.InvalidUnitId.class, () -> Assign.normaliseUnitId(Json.text(unitId)));
        }
        assertEquals(Assign.normaliseUnitId("e\u0301"), Assign.normaliseUnitId("\u00e9"));
    }
}
