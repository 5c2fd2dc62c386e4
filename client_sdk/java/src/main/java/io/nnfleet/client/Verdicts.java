package io.nnfleet.client;

import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The answer to a batch, read: two counts, and the ids of the records that are named in it. {@code unheard} are those rejected
 * only because the server does not have their report.
 */
final class Verdicts {
    final long accepted;
    final long duplicate;
    final Set<String> setAside = new HashSet<>();
    final Set<String> rejected = new HashSet<>();
    final Set<String> unheard = new HashSet<>();

    private Verdicts(Map<String, Object> raw, List<String> recordIds) throws JsonException {
        accepted = Json.whole(raw.get("accepted"));
        duplicate = raw.get("duplicate") == null ? 0 : Json.whole(raw.get("duplicate"));
        for (Object item : listOrEmpty(raw.get("set_aside"))) {
            setAside.add(Json.text(Json.object(item).get("record_id")));
        }
        for (Object item : listOrEmpty(raw.get("rejected"))) {
            Map<String, Object> rejection = Json.object(item);
            long index = Json.whole(rejection.get("index"));
            if (index < 0 || index >= recordIds.size()) {
                throw new JsonException("a verdict about a record that was not sent");
            }
            boolean unknown = DecisionFetcher.UNKNOWN_REPORT.equals(rejection.get("reason"));
            (unknown ? unheard : rejected).add(recordIds.get((int) index));
        }
    }

    /** Null for what is no answer to a batch. */
    static Verdicts read(byte[] body, List<String> recordIds) {
        try {
            return new Verdicts(Json.object(body), recordIds);
        } catch (JsonException garbage) {
            return null;
        }
    }

    /** Records that got a verdict. */
    long total() {
        return accepted + duplicate + setAside.size() + rejected.size() + unheard.size();
    }

    private static List<Object> listOrEmpty(Object value) throws JsonException {
        return value == null ? Collections.emptyList() : Json.list(value);
    }
}
