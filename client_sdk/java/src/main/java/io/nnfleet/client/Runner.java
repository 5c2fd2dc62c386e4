package io.nnfleet.client;

import java.util.Map;

/**
 * What an app brings: starts arms. It honours the arm's {@code limits} itself, or is wrapped in a {@link WatchedRunner}.
 */
public interface Runner {
    /** Loads, compiles and prepares one arm (an entry of the document's {@code arms}). */
    Session start(String model, String armId, Map<String, Object> arm) throws ArmFailed, RunTimeout;
}
