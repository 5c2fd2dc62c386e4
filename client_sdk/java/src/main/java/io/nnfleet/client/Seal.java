package io.nnfleet.client;

import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The signature that binds a document to the report that asked: a compact Ed25519 JWS beside the body. */
final class Seal {
    static final String HEADER = "x-nnfleet-signature";

    // "EdDSA" is RFC 8037's name, "Ed25519" that of RFC 9864.
    private static final List<String> ALGORITHMS = Collections.unmodifiableList(Arrays.asList("EdDSA", "Ed25519"));

    private final String reportId;
    private final Map<String, byte[]> trustedKeys;

    /** Checks against the keys an app ships: key id to 32-byte public key. Without keys it checks nothing. */
    Seal(String reportId, Map<String, byte[]> trustedKeys) {
        this.reportId = reportId;
        this.trustedKeys = new HashMap<>(trustedKeys);
    }

    /**
     * Null for a document that may be trusted, else why not: {@code unsigned}, {@code unreadable-signature}, {@code
     * unknown-key}, {@code bad-signature} (of these bytes or of others), {@code other-report}, {@code expired-document}.
     */
    String refusal(byte[] body, String token, double nowS) {
        if (trustedKeys.isEmpty()) {
            return null;
        }
        if (token == null || token.isEmpty()) {
            return "unsigned";
        }
        try {
            return check(body, token, nowS);
        } catch (JsonException unreadable) {
            return "unreadable-signature";
        }
    }

    private String check(byte[] body, String token, double nowS) throws JsonException {
        String[] parts = token.split("\\.", -1);
        if (parts.length != 3) {
            throw new JsonException("no compact JWS");
        }
        Map<String, Object> header = Json.object(Base64Url.decode(parts[0]));
        byte[] key = trustedKeys.get(Json.text(header.get("kid")));
        // The algorithm is ours to choose, never the token's: anything but Ed25519 is refused by name.
        if (key == null || !ALGORITHMS.contains(Json.text(header.get("alg")))) {
            return "unknown-key";
        }
        byte[] signed = (parts[0] + "." + parts[1]).getBytes(Json.UTF_8);
        if (!Ed25519.verifies(key, signed, Base64Url.decode(parts[2]))) {
            return "bad-signature";
        }
        return claimRefusal(Json.object(Base64Url.decode(parts[1])), body, nowS);
    }

    private String claimRefusal(Map<String, Object> claims, byte[] body, double nowS) throws JsonException {
        if (!Json.text(claims.get("report_id")).equals(reportId)) {
            return "other-report";
        }
        if (!Json.text(claims.get("body_sha256")).equals(Digests.sha256Hex(body))) {
            return "bad-signature";
        }
        return Instants.rfc3339(Json.text(claims.get("expires_at"))) <= nowS ? "expired-document" : null;
    }
}
