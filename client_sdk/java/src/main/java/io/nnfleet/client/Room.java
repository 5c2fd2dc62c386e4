package io.nnfleet.client;

import java.io.Closeable;
import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.ref.WeakReference;
import java.nio.channels.OverlappingFileLockException;
import java.util.HashMap;
import java.util.Map;

/**
 * A folder of files for one client at a time: the first free one of {@code folder}, {@code folder/room-2}, … {@code
 * folder/room-8}, until it is closed, or its process ends.
 *
 * <p>Two that wrote the same files would lose each other's observations, and each would take the other's running starts for
 * crashes. Apps do have several processes, and make a second client in one by mistake: a client for each Activity.
 */
final class Room implements Closeable {
    private static final String LOCK_FILE = "lock";
    private static final int MOST_ROOMS = 8;

    // Of this process. Opening a lock file twice and closing it once would give the lock away: POSIX counts by process.
    private static final Map<File, Held> HELD = new HashMap<>();

    private final File folder;

    /** A lock of this process, and the room that has it; a room that nobody holds any more has left it to the next. */
    private static final class Held {
        final RandomAccessFile lock;
        WeakReference<Room> owner;

        Held(RandomAccessFile lock, Room owner) {
            this.lock = lock;
            this.owner = new WeakReference<>(owner);
        }
    }

    Room(File folder) {
        this.folder = folder == null ? null : firstFree(canonical(folder));
    }

    // One folder under two names is one folder.
    private static File canonical(File folder) {
        try {
            return folder.getCanonicalFile();
        } catch (IOException refused) {
            return folder.getAbsoluteFile();
        }
    }

    /** Null where there was none to begin with, or where all are taken: then nothing is kept on disk. */
    File folder() {
        return folder;
    }

    /** Leaves it to another client. */
    @Override
    public void close() {
        synchronized (HELD) {
            Held held = HELD.get(folder);
            if (held != null && held.owner.get() == this) {
                HELD.remove(folder);
                closed(held.lock);
            }
        }
    }

    private File firstFree(File first) {
        for (int number = 1; number <= MOST_ROOMS; number++) {
            File room = number == 1 ? first : new File(first, "room-" + number);
            if (takes(room)) {
                return room;
            }
        }
        return null;
    }

    private boolean takes(File room) {
        synchronized (HELD) {
            Held held = HELD.get(room);
            if (held == null) {
                return locks(room);
            }
            boolean left = held.owner.get() == null;
            if (left) {
                held.owner = new WeakReference<>(this);
            }
            return left;
        }
    }

    /** Whether no other process has it. A disk that cannot lock is used without. */
    private boolean locks(File room) {
        if (!room.isDirectory() && !room.mkdirs()) {
            return true;
        }
        RandomAccessFile lock = null;
        try {
            lock = new RandomAccessFile(new File(room, LOCK_FILE), "rw");
            if (lock.getChannel().tryLock() != null) {
                HELD.put(room, new Held(lock, this));
                return true;
            }
            closed(lock);
            return false;
        } catch (OverlappingFileLockException otherName) {
            closed(lock);
            return false;
        } catch (IOException refused) {
            closed(lock);
            return true;
        }
    }

    private static void closed(RandomAccessFile lock) {
        try {
            if (lock != null) {
                lock.close();
            }
        } catch (IOException already) {
            return; // gone either way
        }
    }
}
