package io.nnfleet.client;

import java.util.List;

/** Told about every start before it is made and every end after it; keeps what must survive a crash. */
interface Witness {
    /** True where a rung is to be passed over; the last one only where it ended one process after the other. */
    boolean excludes(Rung rung, boolean last);

    /** Called before the runner is. What it writes is all that is left if the process dies now. */
    void starting(Rung rung, List<String> passedOver);

    /** Called after the session is closed. {@code fell} says that the walk goes one rung down. */
    void ended(Rung rung, Window window, boolean fell);
}
