package io.nnfleet.client;

import java.io.File;
import java.io.IOException;

/** Another process of the app: starts an arm in the folder it is given, says so, and goes on when it is told to. */
final class HolderProgram {
    private HolderProgram() {}

    public static void main(String[] arguments) {
        FleetClient client =
                Builders.client(new Transport("http://127.0.0.1:9"), new ManualClock()).folder(new File(arguments[0])).build();
        FakeRunner waiting =
                new FakeRunner()
                        .with(
                                Builders.CPU,
                                new FakeRunner.Behaviour() {
                                    @Override
                                    void onStart() {
                                        System.out.println("started");
                                        awaitWord();
                                    }
                                });
        client.use("segmentation", waiting, 1, Circumstances.UNKNOWN, null);
        System.out.println(client.waiting());
    }

    private static void awaitWord() {
        try {
            if (System.in.read() < 0) {
                throw new IllegalStateException("nobody is there any more");
            }
        } catch (IOException gone) {
            throw new IllegalStateException(gone);
        }
    }
}
