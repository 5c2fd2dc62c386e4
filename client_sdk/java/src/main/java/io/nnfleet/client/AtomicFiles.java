package io.nnfleet.client;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;

/** Small files that are whole or absent, never half. */
final class AtomicFiles {
    // More than any file of ours holds. What is bigger is damaged, would eat the memory of every start, and is thrown away.
    private static final int MOST_FILE_BYTES = 16 * 1024 * 1024;

    private AtomicFiles() {}

    /**
     * Replaces a file in one step, so that a crash leaves the old or the new one. False where the disk refuses (full,
     * read-only): a client works on without it.
     */
    static boolean write(File file, byte[] content) {
        File folder = file.getParentFile();
        File beside = new File(folder, file.getName() + ".new");
        if (!folder.isDirectory() && !folder.mkdirs()) {
            return false;
        }
        try (FileOutputStream out = new FileOutputStream(beside)) {
            out.write(content);
            out.getFD().sync();
        } catch (IOException refused) {
            beside.delete(); // a full disk needs the room
            return false;
        }
        return beside.renameTo(file);
    }

    /** A file's bytes; null where there is none, the disk refuses, or there are more than any file of ours holds. */
    static byte[] readOrNull(File file) {
        byte[] content;
        try (InputStream in = new FileInputStream(file)) {
            content = readAll(in, MOST_FILE_BYTES);
        } catch (IOException refused) {
            return null;
        }
        return content == null && file.delete() ? null : content;
    }

    /** All bytes of a stream; null where there are more than {@code mostBytes}. */
    static byte[] readAll(InputStream in, int mostBytes) throws IOException {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        byte[] chunk = new byte[8192];
        for (int count = in.read(chunk); count >= 0; count = in.read(chunk)) {
            if (count > mostBytes - all.size()) {
                return null;
            }
            all.write(chunk, 0, count);
        }
        return all.toByteArray();
    }
}
