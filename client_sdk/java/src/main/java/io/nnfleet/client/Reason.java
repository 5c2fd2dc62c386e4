package io.nnfleet.client;

/** Where an answer comes from. */
public enum Reason {
    /** From a document fetched within its max-age. */
    FRESH,
    /** From a document the server confirmed (304) within its max-age. */
    NOT_MODIFIED,
    /** From the last good document, past its max-age and before its expiry. */
    STALE,
    /** From the app's bundled default. */
    DEFAULT
}
