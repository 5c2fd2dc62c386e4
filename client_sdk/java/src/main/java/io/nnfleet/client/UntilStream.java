package io.nnfleet.client;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.SocketTimeoutException;

/** A stream that is read until a moment of the monotonic clock and no longer, however well each single read goes. */
final class UntilStream extends FilterInputStream {
    private final Clock clock;
    private final double untilS;

    UntilStream(InputStream in, Clock clock, double untilS) {
        super(in);
        this.clock = clock;
        this.untilS = untilS;
    }

    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
        if (clock.monotonicS() > untilS) {
            throw new SocketTimeoutException("the answer takes too long");
        }
        return super.read(into, offset, length);
    }
}
