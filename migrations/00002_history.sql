-- +goose Up

-- Who watches a cluster, and until when it is known to have seen everything.
-- cluster is the UID of the namespace podproof-system, so that a cluster that
-- was made anew has no past. One process writes at a time: the one named by
-- owner ('' for none), as long as it renews. Times are Unix milliseconds, UTC.
CREATE TABLE watches (
    cluster    TEXT    NOT NULL PRIMARY KEY,
    owner      TEXT    NOT NULL,
    renewed_at INTEGER NOT NULL,
    seen_until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What changed in the labs' namespaces, oldest first; the newest of each
-- namespace are kept.
CREATE TABLE changes (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    cluster    TEXT    NOT NULL REFERENCES watches (cluster) ON DELETE CASCADE,
    namespace  TEXT    NOT NULL,
    seen_at    INTEGER NOT NULL,
    object     TEXT    NOT NULL,
    uid        TEXT    NOT NULL,
    owner      TEXT    NOT NULL,
    container  TEXT    NOT NULL,
    state      TEXT    NOT NULL,
    reason     TEXT    NOT NULL,
    exit_code  INTEGER,
    restarts   INTEGER NOT NULL,
    told_at    INTEGER -- the API's own time
) STRICT;

CREATE INDEX changes_by_namespace ON changes (cluster, namespace, id);
CREATE INDEX changes_by_cluster ON changes (cluster, id);

-- When nobody watched. One watch serves all namespaces, so these hold for all.
CREATE TABLE blind_spans (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    cluster TEXT    NOT NULL REFERENCES watches (cluster) ON DELETE CASCADE,
    since   INTEGER NOT NULL,
    until   INTEGER NOT NULL CHECK (until >= since)
) STRICT;

CREATE INDEX blind_spans_by_cluster ON blind_spans (cluster, id);

-- +goose Down
DROP TABLE blind_spans;
DROP TABLE changes;
DROP TABLE watches;
