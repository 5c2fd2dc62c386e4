package io.nnfleet.client;

import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/**
 * Observations on disk, so that a crash or a restart loses none: one JSON record a line, appended. Without a folder it keeps
 * nothing. A disk that refuses (full, read-only) is survived: the lines are then in memory only.
 */
final class Spool {
    private static final String SPOOL_FILE = "observations.ndjson";

    private final File file;
    private long sizeBytes;
    private boolean torn;

    Spool(File folder) {
        this.file = folder == null ? null : new File(folder, SPOOL_FILE);
    }

    /** Bytes in the file, those of outdated lines included. */
    long sizeBytes() {
        return sizeBytes;
    }

    /** Adds a line; a durable one is on the disk when this returns, even if the phone reboots now. */
    void append(byte[] line, boolean durable) {
        if (file == null || !(file.getParentFile().isDirectory() || file.getParentFile().mkdirs())) {
            return;
        }
        // A line after half a line would be lost with it, and a mark is written in just the moments when lines are torn.
        byte[] content = torn ? joined(Arrays.asList(new byte[0], line)) : joined(Collections.singletonList(line));
        try (FileOutputStream out = new FileOutputStream(file, true)) {
            out.write(content); // in one write: half a line and half of another's are no line
            if (durable) {
                out.getFD().sync();
            }
            torn = false;
            sizeBytes += content.length;
        } catch (IOException refused) {
            torn = true; // a full disk may have taken half of it; the line stays in memory
        }
    }

    /** Replaces the whole file in one step. */
    void rewrite(List<byte[]> kept) {
        byte[] content = joined(kept);
        if (file != null && AtomicFiles.write(file, content)) {
            sizeBytes = content.length;
            torn = false;
        }
    }

    /** The lines of the file; a last one that was torn by a crash is the reader's to skip. */
    List<byte[]> read() {
        List<byte[]> found = new ArrayList<>();
        byte[] content = file == null ? null : AtomicFiles.readOrNull(file);
        if (content != null && content.length > 0) {
            for (String line : new String(content, Json.UTF_8).split("\n")) {
                found.add(line.getBytes(Json.UTF_8));
            }
            sizeBytes = content.length;
            torn = content[content.length - 1] != '\n';
        }
        return found;
    }

    /** The lines as one NDJSON body. */
    static byte[] joined(List<byte[]> lines) {
        int size = 0;
        for (byte[] line : lines) {
            size += line.length + 1;
        }
        byte[] all = new byte[size];
        int at = 0;
        for (byte[] line : lines) {
            System.arraycopy(line, 0, all, at, line.length);
            at += line.length;
            all[at++] = '\n';
        }
        return all;
    }
}
