package io.nnfleet.client;

/** The name of a capability report is the digest of its bytes. */
public final class Report {
    private Report() {}

    /**
     * Lowercase hexadecimal SHA-256 of the exact bytes that are uploaded: 64 characters. Never of a parsed and
     * written-again form: another spacing is another report.
     */
    public static String id(byte[] report) {
        return Digests.sha256Hex(report);
    }
}
