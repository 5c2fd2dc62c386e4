package io.nnfleet.client;

/** Base64 for URLs, without padding (RFC 4648 §5). Android has java.util.Base64 only from API 26 on. */
final class Base64Url {
    private static final String ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

    private Base64Url() {}

    /** Throws JsonException for a character outside the alphabet, or for half a byte. */
    static byte[] decode(String text) throws JsonException {
        if (text.length() % 4 == 1) {
            throw new JsonException("no base64url");
        }
        byte[] bytes = new byte[text.length() * 3 / 4];
        int bits = 0;
        int held = 0;
        int out = 0;
        for (int at = 0; at < text.length(); at++) {
            int value = ALPHABET.indexOf(text.charAt(at));
            if (value < 0) {
                throw new JsonException("no base64url");
            }
            held = held << 6 | value;
            bits += 6;
            if (bits >= 8) {
                bits -= 8;
                bytes[out++] = (byte) (held >> bits);
            }
        }
        return bytes;
    }
}
