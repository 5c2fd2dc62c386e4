package io.nnfleet.client;

import static io.nnfleet.client.Builders.CPU;
import static io.nnfleet.client.Builders.GPU;
import static io.nnfleet.client.Builders.NPU;
import static io.nnfleet.client.Builders.client;
import static io.nnfleet.client.Builders.document;
import static io.nnfleet.client.Builders.exploring;
import static io.nnfleet.client.Builders.model;
import static io.nnfleet.client.Builders.modelWith;
import static io.nnfleet.client.Builders.plan;
import static io.nnfleet.client.Builders.split;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.util.Collections;
import org.junit.Rule;
import org.junit.Test;

/** From a document and a moment to a plan (R-C7, R-C9, R-C10). */
public class PlanTest {
    @Rule public final FakeServer server = new FakeServer();

    private Plan planOf(String model, String unitId, Circumstances now) {
        server.document = document(model, 41).getBytes(Json.UTF_8);
        FleetClient.Builder builder =
                FleetClient.builder("camera", Builders.REPORT, server.transport(), new Defaults().cpu("segmentation", CPU))
                        .clock(new ManualClock());
        FleetClient client = (unitId == null ? builder : builder.unitId(unitId)).build();
        client.refresh();
        return client.decision("segmentation", now);
    }

    private static String heat(String when) {
        return modelWith(
                "{'when': " + when + ", 'plan': 'cool'}, {'when': {}, 'plan': 'main'}",
                "'main': " + plan(split(10_000, NPU, CPU)) + ", 'cool': " + plan(split(10_000, CPU)));
    }

    private static final Circumstances HOT = Circumstances.UNKNOWN.workload("sustained").thermal(Thermal.SEVERE);

    @Test
    public void a_unit_gets_the_split_of_its_bucket() {
        Plan first = planOf(model(split(9_800, NPU, CPU), exploring(200, GPU, CPU)), "unit-1", Circumstances.UNKNOWN);
        assertEquals(Integer.valueOf(565), first.bucket);
        assertEquals(NPU, first.ladder.get(0).armId);
        assertEquals(0.98, first.propensity, 0);
        Plan second = planOf(model(split(500, NPU, CPU), exploring(9_500, GPU, CPU)), "unit-1", Circumstances.UNKNOWN);
        assertEquals(GPU, second.ladder.get(0).armId);
        assertTrue(second.explore);
    }

    @Test
    public void without_a_unit_id_nobody_explores() {
        Plan plan = planOf(model(exploring(200, GPU, CPU), split(9_800, NPU, CPU)), null, Circumstances.UNKNOWN);
        assertEquals(Assign.AssignedBy.NO_UNIT, plan.assignedBy);
        assertEquals(NPU, plan.ladder.get(0).armId);
        assertEquals(1, plan.propensity, 0);
        assertNull(plan.bucket);
    }

    @Test
    public void the_first_situation_that_matches_holds() {
        String model = heat("{'workload': 'sustained', 'thermal_at_least': 'moderate'}");
        assertEquals("cool", planOf(model, "unit-1", HOT).name);
        assertEquals("main", planOf(model, "unit-1", HOT.thermal(Thermal.LIGHT)).name);
        assertEquals("main", planOf(model, "unit-1", HOT.thermal(null)).name);
        assertEquals("main", planOf(model, "unit-1", HOT.workload("burst")).name);
    }

    @Test
    public void a_condition_of_a_newer_server_fails_its_situation() {
        assertEquals("main", planOf(heat("{'moon': 'full'}"), "unit-1", HOT).name);
        assertEquals("main", planOf(heat("{'thermal_at_least': 'lava'}"), "unit-1", HOT).name);
        assertEquals("cool", planOf(heat("{'battery_saver': true}"), "unit-1", HOT.batterySaver(true)).name);
    }

    @Test
    public void an_unknown_hash_assigns_nobody_and_a_whole_split_needs_none() {
        String split = model(split(5_000, NPU, CPU), split(5_000, CPU)).replace("murmur3-32/1", "xx/9");
        assertEquals("unknown-hash", planOf(split, "unit-1", Circumstances.UNKNOWN).errorCode);
        String whole = model(split(10_000, NPU, CPU)).replace("murmur3-32/1", "xx/9");
        assertEquals(Reason.FRESH, planOf(whole, "unit-1", Circumstances.UNKNOWN).reason);
    }

    @Test
    public void a_model_that_nobody_knows_is_the_apps_mistake() {
        FleetClient client = client(server.transport(), new ManualClock()).build();
        assertThrows(
                NnfleetClientException.UnknownModel.class, () -> client.decision("speech", Circumstances.UNKNOWN));
        assertThrows(NnfleetClientException.InvalidDefault.class, () -> new Defaults().frozen());
    }

    @Test
    public void a_share_that_was_passed_over_counts_for_the_arm_that_it_moved_to() {
        Plan plan = planOf(model(split(9_000, NPU, GPU, CPU), split(1_000, GPU, CPU)), "unit-1", Circumstances.UNKNOWN);
        assertEquals(0.9, plan.servedPropensity(NPU, Collections.<String>emptyList()), 0);
        assertEquals(1.0, plan.servedPropensity(GPU, Collections.singletonList(NPU)), 0);
    }
}
