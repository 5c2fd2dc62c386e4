package io.nnfleet.client;

import java.util.LinkedHashMap;
import java.util.Map;

/** Who really ran: the runtime's own word, not what was asked for. Null is "not known". */
public final class Executed {
    public final String by;
    public final Integer delegatedNodes;
    public final Integer totalNodes;
    public final Integer partitions;

    public Executed(String by, Integer delegatedNodes, Integer totalNodes, Integer partitions) {
        this.by = by;
        this.delegatedNodes = delegatedNodes;
        this.totalNodes = totalNodes;
        this.partitions = partitions;
    }

    Map<String, Object> toJson() {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("by", by);
        json.put("delegated_nodes", delegatedNodes);
        json.put("total_nodes", totalNodes);
        json.put("partitions", partitions);
        return json;
    }
}
