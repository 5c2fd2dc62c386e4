package io.nnfleet.client;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** SHA-256 and SHA-512, which every Java and every Android has. */
final class Digests {
    private Digests() {}

    static byte[] sha512(byte[]... parts) {
        return digest("SHA-512", parts);
    }

    /** Lowercase hexadecimal SHA-256. */
    static String sha256Hex(byte[] bytes) {
        StringBuilder out = new StringBuilder(64);
        for (byte part : digest("SHA-256", bytes)) {
            out.append(Character.forDigit(part >> 4 & 15, 16)).append(Character.forDigit(part & 15, 16));
        }
        return out.toString();
    }

    private static byte[] digest(String algorithm, byte[]... parts) {
        try {
            MessageDigest digest = MessageDigest.getInstance(algorithm);
            for (byte[] part : parts) {
                digest.update(part);
            }
            return digest.digest();
        } catch (NoSuchAlgorithmException missing) {
            throw new IllegalStateException(missing);
        }
    }
}
