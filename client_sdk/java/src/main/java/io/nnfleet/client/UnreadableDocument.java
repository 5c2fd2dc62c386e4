package io.nnfleet.client;

/** Bytes that are no decision document of ours; the code says which rule they break. */
final class UnreadableDocument extends Exception {
    private static final long serialVersionUID = 1L;

    final String code;

    UnreadableDocument(String code, String detail) {
        super(detail);
        this.code = code;
    }
}
