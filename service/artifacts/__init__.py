"""Files by their digest: taken in, read once apart from the web process, kept in a folder or an object store, served for ever."""
