package io.nnfleet.client;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Signature;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collections;
import org.junit.Test;

/** Signed documents (R-F5): the platform's own Ed25519 signs, ours verifies. */
public class SealTest {
    private static final byte[] BODY = Builders.document().getBytes(Json.UTF_8);
    private static final double NOW_S = 1_780_000_000.0;
    private static final KeyPair KEYS = keyPair();

    private static KeyPair keyPair() {
        try {
            return KeyPairGenerator.getInstance("Ed25519").generateKeyPair();
        } catch (Exception impossible) {
            throw new AssertionError(impossible);
        }
    }

    private static byte[] publicKey() {
        byte[] encoded = KEYS.getPublic().getEncoded();
        return Arrays.copyOfRange(encoded, encoded.length - 32, encoded.length);
    }

    private static byte[] signature(byte[] message) throws Exception {
        Signature signature = Signature.getInstance("Ed25519");
        signature.initSign(KEYS.getPrivate());
        signature.update(message);
        return signature.sign();
    }

    private static String base64(byte[] bytes) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }

    static String token(String header, String reportId, byte[] body, String expires) throws Exception {
        String claims = "{\"report_id\": \"" + reportId + "\", \"body_sha256\": \"" + Digests.sha256Hex(body)
                + "\", \"release\": 41, \"expires_at\": \"" + expires + "\"}";
        String unsigned = base64(header.getBytes(Json.UTF_8)) + "." + base64(claims.getBytes(Json.UTF_8));
        return unsigned + "." + base64(signature(unsigned.getBytes(Json.UTF_8)));
    }

    private static String token(String reportId, byte[] body, String expires) throws Exception {
        return token("{\"alg\": \"EdDSA\", \"kid\": \"k1\"}", reportId, body, expires);
    }

    private static String refusal(String token) {
        return new Seal("report", Collections.singletonMap("k1", publicKey())).refusal(BODY, token, NOW_S);
    }

    @Test
    public void signatures_of_the_standard_verify() {
        assertTrue(
                Ed25519.verifies(
                        hex("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c"),
                        hex("72"),
                        hex("92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
                                + "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00")));
    }

    @Test
    public void no_signature_survives_a_flipped_bit() throws Exception {
        byte[] message = {1, 2, 3};
        byte[] signature = signature(message);
        assertTrue(Ed25519.verifies(publicKey(), message, signature));
        for (int bit = 0; bit < 512; bit += 37) {
            byte[] flipped = signature.clone();
            flipped[bit / 8] ^= (byte) (1 << bit % 8);
            assertFalse("bit " + bit, Ed25519.verifies(publicKey(), message, flipped));
        }
    }

    @Test
    public void a_scalar_that_was_made_larger_by_the_order_is_refused() throws Exception {
        byte[] signature = signature(new byte[0]);
        byte[] scalar = Ed25519.littleEndian(Arrays.copyOfRange(signature, 32, 64)).add(Ed25519.ORDER).toByteArray();
        for (int at = 0; at < 32; at++) {
            signature[32 + at] = at < scalar.length ? scalar[scalar.length - 1 - at] : 0;
        }
        assertFalse(Ed25519.verifies(publicKey(), new byte[0], signature));
    }

    @Test
    public void a_document_signed_for_this_report_is_trusted() throws Exception {
        assertNull(refusal(token("report", BODY, "2026-06-27T00:00:00Z")));
    }

    @Test
    public void each_refusal_has_its_own_code() throws Exception {
        String good = token("report", BODY, "2026-06-27T00:00:00Z");
        assertEquals("unsigned", refusal(null));
        assertEquals("unsigned", refusal(""));
        assertEquals("unreadable-signature", refusal("a.b"));
        assertEquals("unreadable-signature", refusal("!.!.!"));
        assertEquals("other-report", refusal(token("another", BODY, "2026-06-27T00:00:00Z")));
        assertEquals("bad-signature", refusal(token("report", new byte[0], "2026-06-27T00:00:00Z")));
        assertEquals("expired-document", refusal(token("report", BODY, "2026-01-01T00:00:00Z")));
        assertEquals("bad-signature", refusal(good.substring(0, good.length() - 6) + "AAAAAA"));
        String none = token("{\"alg\": \"none\", \"kid\": \"k1\"}", "report", BODY, "2026-06-27T00:00:00Z");
        assertEquals("unknown-key", refusal(none));
        String other = token("{\"alg\": \"EdDSA\", \"kid\": \"k2\"}", "report", BODY, "2026-06-27T00:00:00Z");
        assertEquals("unknown-key", refusal(other));
    }

    @Test
    public void an_app_without_keys_does_not_look() {
        assertNull(new Seal("report", Collections.<String, byte[]>emptyMap()).refusal(BODY, null, NOW_S));
    }

    static byte[] hex(String text) {
        byte[] bytes = new byte[text.length() / 2];
        for (int at = 0; at < bytes.length; at++) {
            bytes[at] = (byte) Integer.parseInt(text.substring(2 * at, 2 * at + 2), 16);
        }
        return bytes;
    }
}
