package io.nnfleet.client;

/** The root of what this library throws. Expected trouble (no network, a 503, a bad document) is an answer's error code. */
public class NnfleetClientException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    NnfleetClientException(String message) {
        super(message);
    }

    /** The unit id is empty, holds control characters or is no valid text. */
    public static final class InvalidUnitId extends NnfleetClientException {
        private static final long serialVersionUID = 1L;

        InvalidUnitId(String message) {
            super(message);
        }
    }

    /** The bundled default leaves a model without any arm. */
    public static final class InvalidDefault extends NnfleetClientException {
        private static final long serialVersionUID = 1L;

        InvalidDefault(String message) {
            super(message);
        }
    }

    /** The thread that used a model was interrupted: no crash, no fault of the arm. A runner may throw it, too. */
    public static final class CalledOff extends NnfleetClientException {
        private static final long serialVersionUID = 1L;

        public CalledOff(String message) {
            super(message);
        }
    }

    /** A model that neither the document nor the bundled default knows. */
    public static final class UnknownModel extends NnfleetClientException {
        private static final long serialVersionUID = 1L;

        UnknownModel(String model) {
            super(model);
        }
    }
}
