package io.nnfleet.client;

import java.util.LinkedHashMap;
import java.util.Map;

/** What a start cost, in microseconds. Null is "not measured", never zero. */
public final class Init {
    /** Nothing was measured. */
    public static final Init UNKNOWN = new Init(null, null, null, null);

    public final Long loadUs;
    public final Long compileUs;
    public final Boolean cacheHit;
    public final Long firstRunUs;

    public Init(Long loadUs, Long compileUs, Boolean cacheHit, Long firstRunUs) {
        this.loadUs = loadUs;
        this.compileUs = compileUs;
        this.cacheHit = cacheHit;
        this.firstRunUs = firstRunUs;
    }

    Map<String, Object> toJson() {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("load_us", plausible(loadUs));
        json.put("compile_us", plausible(compileUs));
        json.put("cache_hit", cacheHit);
        json.put("first_run_us", plausible(firstRunUs));
        return json;
    }

    // A negative duration is a broken clock: unknown, not zero, and no reason to lose the record.
    private static Long plausible(Long durationUs) {
        return durationUs == null || durationUs < 0 ? null : durationUs;
    }
}
