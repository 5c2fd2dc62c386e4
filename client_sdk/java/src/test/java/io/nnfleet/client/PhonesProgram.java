package io.nnfleet.client;

import java.io.File;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * Phones of one class as a program: probe themselves, ask a real server, run, report; prints what came of it as JSON.
 *
 * <p>Arguments: server, number of phones, the probe's executable, a capture, the folder of libraries, a work folder, and
 * the key that the server signs with as {@code id=hex}. Their accelerator only pretends: it takes the whole graph and is as
 * fast as the CPU.
 */
final class PhonesProgram {
    private static final long CPU_US = 20_000;

    private PhonesProgram() {}

    public static void main(String[] arguments) {
        File work = new File(arguments[5]);
        byte[] report = NativeProbe.report(new File(arguments[2]), work, new File(arguments[3]), new File(arguments[4]));
        Transport transport = new Transport(arguments[0]);
        Map<String, Object> printed = new LinkedHashMap<>();
        Map<String, Integer> arms = new TreeMap<>();
        int accepted = 0;
        for (int phone = 0; phone < Integer.parseInt(arguments[1]); phone++) {
            FleetClient client = client(report, transport, phone, arguments[6].split("="));
            printed.put("reason", client.refresh().reason);
            for (String model : new String[] {"segmentation", "detection"}) {
                String arm = client.use(model, PhonesProgram::start, 30, Circumstances.UNKNOWN.workload("burst"), null).armId;
                arms.put(arm, arms.containsKey(arm) ? arms.get(arm) + 1 : 1);
            }
            accepted += client.flush().accepted();
            printed.put("waiting", client.waiting());
            printed.put("report_id", client.reportId());
        }
        printed.put("arms", arms);
        printed.put("accepted", accepted);
        System.out.println(new String(Json.bytes(printed), Json.UTF_8));
    }

    private static FleetClient client(byte[] report, Transport transport, int phone, String[] key) {
        Defaults defaults = new Defaults().cpu("segmentation", Builders.CPU).cpu("detection", Builders.CPU);
        return FleetClient.builder("camera", report, transport, defaults)
                .unitId("unit-" + phone)
                .trustedKey(key[0], SealTest.hex(key[1]))
                .build();
    }

    private static Session start(String model, String armId, Map<String, Object> arm) {
        boolean cpu = arm.get("delegate").equals("cpu");
        return new FakeRunner.Behaviour() {
            @Override
            public Executed executed() {
                return cpu ? new Executed("xnnpack", 0, 4, 0) : new Executed("nnapi:" + arm.get("accelerator"), 4, 4, 1);
            }

            @Override
            public long run() {
                runs++;
                return CPU_US + 10 * (runs % 7);
            }
        };
    }
}
