package io.nnfleet.client;

/** Text that is no JSON, or JSON of another shape than was asked for. */
final class JsonException extends Exception {
    private static final long serialVersionUID = 1L;

    JsonException(String message) {
        super(message);
    }
}
