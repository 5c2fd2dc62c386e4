package io.nnfleet.client;

import io.nnfleet.client.DecisionDocument.Model;
import io.nnfleet.client.DecisionDocument.PlanShares;
import io.nnfleet.client.DecisionDocument.Situation;
import io.nnfleet.client.DecisionDocument.Split;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The decision document, read once at the edge: bytes to typed values, or a code that says why not. */
final class DocumentReader {
    private static final long SCHEMA = 1;
    private static final double MOST_FLUSH_S = 86_400;

    private DocumentReader() {}

    /**
     * Reads a decision document. Fields this client does not know are ignored. Throws UnreadableDocument with {@code
     * unreadable-document} (no JSON, fields missing or of another type, weights that do not add up to 10,000, a plan or an
     * arm that is named but not there) or {@code unknown-schema}.
     */
    static DecisionDocument read(byte[] body) throws UnreadableDocument {
        try {
            return document(Json.object(body));
        } catch (JsonException problem) {
            throw new UnreadableDocument("unreadable-document", problem.getMessage());
        }
    }

    private static DecisionDocument document(Map<String, Object> raw) throws JsonException, UnreadableDocument {
        if (Json.number(raw.get("schema")) != SCHEMA) {
            throw new UnreadableDocument("unknown-schema", "schema " + raw.get("schema"));
        }
        Map<String, Object> telemetry = objectOrEmpty(raw.get("telemetry"));
        Map<String, Model> models = new LinkedHashMap<>();
        for (Map.Entry<String, Object> model : Json.object(raw.get("models")).entrySet()) {
            models.put(model.getKey(), model(Json.object(model.getValue())));
        }
        return new DecisionDocument(
                Json.text(raw.get("app")),
                Json.whole(raw.get("release")),
                Instants.rfc3339(Json.text(raw.get("expires_at"))),
                models,
                Math.min(1, Math.max(0, numberOr(telemetry.get("sample"), 1))),
                Math.min(MOST_FLUSH_S, Math.max(1, numberOr(telemetry.get("flush_s"), 3600))),
                listOrEmpty(raw.get("advice")),
                listOrEmpty(raw.get("probe")));
    }

    private static List<Object> listOrEmpty(Object value) throws JsonException {
        return value == null ? Collections.emptyList() : Collections.unmodifiableList(Json.list(value));
    }

    private static Model model(Map<String, Object> raw) throws JsonException {
        Map<String, Map<String, Object>> arms = new LinkedHashMap<>();
        for (Map.Entry<String, Object> arm : Json.object(raw.get("arms")).entrySet()) {
            arms.put(arm.getKey(), Collections.unmodifiableMap(Json.object(arm.getValue())));
        }
        Map<String, PlanShares> plans = new LinkedHashMap<>();
        for (Map.Entry<String, Object> plan : Json.object(raw.get("plans")).entrySet()) {
            plans.put(plan.getKey(), plan(Json.object(plan.getValue()), arms));
        }
        List<Situation> situations = new ArrayList<>();
        for (Object situation : Json.list(raw.get("situations"))) {
            situations.add(situation(Json.object(situation), plans));
        }
        Object golden = raw.get("golden");
        return new Model(situations, plans, arms, golden == null ? null : Json.object(golden));
    }

    private static Situation situation(Map<String, Object> raw, Map<String, PlanShares> plans) throws JsonException {
        String plan = Json.text(raw.get("plan"));
        if (!plans.containsKey(plan)) {
            throw new JsonException("a plan is named but not there: " + plan);
        }
        return new Situation(Json.object(raw.get("when")), plan);
    }

    private static PlanShares plan(Map<String, Object> raw, Map<String, Map<String, Object>> arms) throws JsonException {
        List<Split> splits = new ArrayList<>();
        long weights = 0;
        for (Object each : Json.list(raw.get("splits"))) {
            Split split = split(Json.object(each), arms);
            splits.add(split);
            weights += split.weightBp;
        }
        if (weights != Assign.BUCKETS) {
            throw new JsonException("the weights of a plan do not add up to 10,000");
        }
        return new PlanShares(Json.text(raw.get("salt")), Json.text(raw.get("hash")), splits);
    }

    private static Split split(Map<String, Object> raw, Map<String, Map<String, Object>> arms) throws JsonException {
        long weightBp = Json.whole(raw.get("weight"));
        List<String> ladder = new ArrayList<>();
        for (Object arm : Json.list(raw.get("ladder"))) {
            ladder.add(Json.text(arm));
        }
        if (weightBp < 0 || weightBp > Assign.BUCKETS || ladder.isEmpty() || !arms.keySet().containsAll(ladder)) {
            throw new JsonException("a split has an impossible weight, or a ladder without rungs or with lost ones");
        }
        return new Split((int) weightBp, ladder, Boolean.TRUE.equals(raw.get("explore")));
    }

    private static Map<String, Object> objectOrEmpty(Object value) throws JsonException {
        return value == null ? Collections.<String, Object>emptyMap() : Json.object(value);
    }

    private static double numberOr(Object value, double otherwise) throws JsonException {
        return value == null ? otherwise : Json.number(value);
    }
}
