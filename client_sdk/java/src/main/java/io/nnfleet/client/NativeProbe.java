package io.nnfleet.client;

import java.io.File;

/**
 * The native probe through JNI. A probing takes a second or so: it belongs on a background thread, once for each build of the
 * phone.
 */
public final class NativeProbe {
    private static final boolean LOADED = loads();

    private NativeProbe() {}

    private static boolean loads() {
        try {
            System.loadLibrary("nnfleet_probe_jni");
            return true;
        } catch (UnsatisfiedLinkError notPackaged) {
            return false; // for this processor: no reason for an app not to start
        }
    }

    /**
     * This phone's report, in the bytes to upload; null where it is no Android phone, or the app brings no probe for its
     * processor. {@code executable} is the probe's program: on Android {@code libnnfleet_probe_exec.so} in {@code
     * ApplicationInfo.nativeLibraryDir}; null touches no driver. {@code workFolder} is private and writable, {@code
     * Context.getCodeCacheDir()}; null measures no compilation cache.
     */
    public static byte[] report(File executable, File workFolder) {
        return report(executable, workFolder, null, null);
    }

    /** The same, of a capture and with libraries from one folder only. */
    static byte[] report(File executable, File workFolder, File root, File libraryFolder) {
        return LOADED ? probe(pathOf(executable), pathOf(workFolder), pathOf(root), pathOf(libraryFolder)) : null;
    }

    private static String pathOf(File file) {
        return file == null ? null : file.getPath();
    }

    private static native byte[] probe(String executable, String workFolder, String root, String libraryFolder);
}
