package io.nnfleet.client;

import java.io.File;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The last good document of one app for one report: a store only applies. It never sends, and nothing but a better document
 * replaces one.
 *
 * <p>A document's hard end is its {@code expires_at}. It is kept past that, unused, because the highest release ever seen
 * must not be forgotten. With a folder, the document survives a restart; one that was fetched for another report (an update
 * changed the driver) is not taken up, its release number is.
 */
final class DecisionStore {
    private static final String CACHE_FILE = "decision.json";

    private final String app;
    private final String reportId;
    private final File file;
    private volatile Held held;
    private long highestRelease;

    DecisionStore(String app, String reportId, File folder) {
        this.app = app;
        this.reportId = reportId;
        this.file = folder == null ? null : new File(folder, CACHE_FILE);
        load();
    }

    /** A good document with what HTTP said about it, and the wall clock of the last 200 or 304. */
    static final class Held {
        final DecisionDocument document;
        final byte[] body;
        final String etag;
        final double freshForS;
        final double confirmedAtS;
        final Reason confirmedBy;

        Held(DecisionDocument document, byte[] body, String etag, double freshForS, double confirmedAtS, Reason by) {
            this.document = document;
            this.body = body;
            this.etag = etag;
            this.freshForS = freshForS;
            this.confirmedAtS = confirmedAtS;
            this.confirmedBy = by;
        }

        /** Within max-age of its last confirmation. A wall clock that went back makes it not fresh: asking is safe. */
        boolean isFresh(double nowS) {
            return nowS >= confirmedAtS && nowS - confirmedAtS < freshForS;
        }
    }

    /** What the store can offer at a moment: the document (null: none that may be used), why, and what is wrong. */
    static final class Standing {
        final Reason reason;
        final DecisionDocument document;
        final String errorCode;

        Standing(Reason reason, DecisionDocument document, String errorCode) {
            this.reason = reason;
            this.document = document;
            this.errorCode = errorCode;
        }
    }

    /** The last good document, whatever its age; null before the first one. */
    Held held() {
        return held;
    }

    /** What to ask If-None-Match with. Null for an empty store and for an expired document: a 304 would not help. */
    String etag(double nowS) {
        Held now = held;
        return now != null && nowS < now.document.expiresAtS ? now.etag : null;
    }

    /**
     * Takes up a fetched document, or says why not; then the last good one stays. Codes: {@code unreadable-document},
     * {@code unknown-schema}, {@code other-app}, {@code lower-release}, {@code expired-document}.
     */
    synchronized String apply(byte[] body, String etag, double freshForS, double nowS) {
        DecisionDocument document;
        try {
            document = DocumentReader.read(body);
        } catch (UnreadableDocument unreadable) {
            return unreadable.code;
        }
        String refusal = refusal(document, nowS);
        if (refusal == null) {
            held = new Held(document, body, etag, freshForS, nowS, Reason.FRESH);
            highestRelease = document.release;
            save(held);
        }
        return refusal;
    }

    /** Takes up a 304: the held document is fresh again. {@code nothing-to-confirm} where nothing was asked to be confirmed. */
    synchronized String confirm(double freshForS, double nowS) {
        Held now = held;
        // An expired document stays expired: to call that a success would have it asked for again at once, for ever.
        if (now == null || nowS >= now.document.expiresAtS) {
            return "nothing-to-confirm";
        }
        held = new Held(now.document, now.body, now.etag, freshForS, nowS, Reason.NOT_MODIFIED);
        return null;
    }

    /** What may be used now. An empty store: {@code no-document}; past its hard end: {@code expired-document}. */
    Standing standing(double nowS) {
        Held now = held;
        if (now == null) {
            return new Standing(Reason.DEFAULT, null, "no-document");
        }
        if (nowS >= now.document.expiresAtS) {
            return new Standing(Reason.DEFAULT, null, "expired-document");
        }
        return new Standing(now.isFresh(nowS) ? now.confirmedBy : Reason.STALE, now.document, null);
    }

    private String refusal(DecisionDocument document, double nowS) {
        if (!document.app.equals(app)) {
            return "other-app";
        }
        if (document.release < highestRelease) {
            return "lower-release";
        }
        return document.expiresAtS <= nowS ? "expired-document" : null;
    }

    private void save(Held now) {
        if (file == null) {
            return;
        }
        Map<String, Object> cached = new LinkedHashMap<>();
        cached.put("report_id", reportId);
        cached.put("etag", now.etag);
        cached.put("fresh_for_s", now.freshForS);
        cached.put("confirmed_at_s", now.confirmedAtS);
        cached.put("body", new String(now.body, Json.UTF_8));
        AtomicFiles.write(file, Json.bytes(cached));
    }

    private void load() {
        byte[] content = file == null ? null : AtomicFiles.readOrNull(file);
        if (content == null) {
            return;
        }
        try {
            take(Json.object(content));
        } catch (JsonException | UnreadableDocument damaged) {
            held = null; // a damaged cache is an empty cache
        }
    }

    private void take(Map<String, Object> cached) throws JsonException, UnreadableDocument {
        byte[] body = Json.text(cached.get("body")).getBytes(Json.UTF_8);
        DecisionDocument document = DocumentReader.read(body);
        double freshForS = Json.number(cached.get("fresh_for_s"));
        double confirmedAtS = Json.number(cached.get("confirmed_at_s"));
        Object etag = cached.get("etag");
        if (!document.app.equals(app)) {
            return;
        }
        highestRelease = document.release;
        if (reportId.equals(cached.get("report_id"))) {
            String tag = etag == null ? null : Headers.sendable(Json.text(etag));
            held = new Held(document, body, tag, freshForS, confirmedAtS, Reason.FRESH);
        }
    }
}
