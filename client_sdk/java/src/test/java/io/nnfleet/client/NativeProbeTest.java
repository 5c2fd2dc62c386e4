package io.nnfleet.client;

import static org.junit.Assert.assertNull;

import org.junit.Test;

/** The probe through JNI, where there is none: with one it is tested in a process of its own, against the real server. */
public class NativeProbeTest {
    @Test
    public void an_app_without_a_probe_for_its_processor_has_no_report_and_starts() {
        assertNull(NativeProbe.report(null, null));
    }
}
