package io.nnfleet.client;

import java.math.BigInteger;
import java.util.Arrays;

/**
 * Ed25519 signatures, verified (RFC 8032 §5.1.7). Android has none before API 33. Public values only, so nothing here
 * needs to run in constant time.
 */
final class Ed25519 {
    static final BigInteger P = BigInteger.ONE.shiftLeft(255).subtract(BigInteger.valueOf(19));
    static final BigInteger ORDER =
            BigInteger.ONE.shiftLeft(252).add(new BigInteger("27742317777372353535851937790883648493"));

    private static final BigInteger D =
            BigInteger.valueOf(-121665).multiply(BigInteger.valueOf(121666).modInverse(P)).mod(P);
    private static final BigInteger ROOT_OF_MINUS_ONE = BigInteger.valueOf(2).modPow(P.shiftRight(2), P);
    private static final BigInteger BASE_Y = BigInteger.valueOf(4).multiply(BigInteger.valueOf(5).modInverse(P)).mod(P);
    private static final BigInteger BASE_X =
            new BigInteger("15112221349535400772501151409588531511454012693041857206046113283949847762202");
    static final Point BASE = new Point(BASE_X, BASE_Y, BigInteger.ONE, BASE_X.multiply(BASE_Y).mod(P));

    private Ed25519() {}

    /** True where the 64-byte signature of the message was made with the 32-byte public key's secret. */
    static boolean verifies(byte[] publicKey, byte[] message, byte[] signature) {
        if (publicKey.length != 32 || signature.length != 64) {
            return false;
        }
        byte[] nonceBytes = Arrays.copyOf(signature, 32);
        Point key = decompress(publicKey);
        Point nonce = decompress(nonceBytes);
        BigInteger scalar = littleEndian(Arrays.copyOfRange(signature, 32, 64));
        if (key == null || nonce == null || scalar.compareTo(ORDER) >= 0) {
            return false;
        }
        BigInteger challenge = littleEndian(Digests.sha512(nonceBytes, publicKey, message)).mod(ORDER);
        return BASE.times(scalar).isSameAs(nonce.plus(key.times(challenge)));
    }

    static BigInteger littleEndian(byte[] bytes) {
        byte[] reversed = new byte[bytes.length];
        for (int at = 0; at < bytes.length; at++) {
            reversed[bytes.length - 1 - at] = bytes[at];
        }
        return new BigInteger(1, reversed);
    }

    /** The point of a 32-byte encoding; null where there is none on the curve (RFC 8032 §5.1.3). */
    private static Point decompress(byte[] encoded) {
        BigInteger number = littleEndian(encoded);
        boolean odd = number.testBit(255);
        BigInteger y = number.clearBit(255);
        if (y.compareTo(P) >= 0) {
            return null;
        }
        BigInteger x = rootFor(y);
        if (x == null || (x.signum() == 0 && odd)) {
            return null;
        }
        x = x.testBit(0) == odd ? x : P.subtract(x);
        return new Point(x, y, BigInteger.ONE, x.multiply(y).mod(P));
    }

    private static BigInteger rootFor(BigInteger y) {
        BigInteger squareOfY = y.multiply(y).mod(P);
        BigInteger square =
                squareOfY.subtract(BigInteger.ONE).multiply(D.multiply(squareOfY).add(BigInteger.ONE).modInverse(P)).mod(P);
        BigInteger root = square.modPow(P.add(BigInteger.valueOf(3)).shiftRight(3), P);
        if (!root.multiply(root).mod(P).equals(square)) {
            root = root.multiply(ROOT_OF_MINUS_ONE).mod(P);
        }
        return root.multiply(root).mod(P).equals(square) ? root : null;
    }

    /** Extended coordinates: x = X/Z, y = Y/Z, x·y = T/Z. */
    static final class Point {
        final BigInteger x;
        final BigInteger y;
        final BigInteger z;
        final BigInteger t;

        Point(BigInteger x, BigInteger y, BigInteger z, BigInteger t) {
            this.x = x;
            this.y = y;
            this.z = z;
            this.t = t;
        }

        /** The sum of two points (RFC 8032 §5.1.4). */
        Point plus(Point other) {
            BigInteger a = y.subtract(x).multiply(other.y.subtract(other.x)).mod(P);
            BigInteger b = y.add(x).multiply(other.y.add(other.x)).mod(P);
            BigInteger c = t.multiply(other.t).mod(P).multiply(D).shiftLeft(1).mod(P);
            BigInteger d = z.multiply(other.z).shiftLeft(1).mod(P);
            BigInteger e = b.subtract(a);
            BigInteger f = d.subtract(c);
            BigInteger g = d.add(c);
            BigInteger h = b.add(a);
            return new Point(e.multiply(f).mod(P), g.multiply(h).mod(P), f.multiply(g).mod(P), e.multiply(h).mod(P));
        }

        Point times(BigInteger scalar) {
            Point total = new Point(BigInteger.ZERO, BigInteger.ONE, BigInteger.ONE, BigInteger.ZERO);
            for (int bit = scalar.bitLength() - 1; bit >= 0; bit--) {
                total = total.plus(total);
                total = scalar.testBit(bit) ? total.plus(this) : total;
            }
            return total;
        }

        boolean isSameAs(Point other) {
            return x.multiply(other.z).subtract(other.x.multiply(z)).mod(P).signum() == 0
                    && y.multiply(other.z).subtract(other.y.multiply(z)).mod(P).signum() == 0;
        }
    }
}
