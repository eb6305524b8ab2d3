-- +goose Up

-- What is known of one learner's task. A row is made when the task is first
-- opened, and its seed never changes. Times are Unix milliseconds, UTC.
CREATE TABLE task_records (
    learner       TEXT    NOT NULL,
    lab           TEXT    NOT NULL,
    task          TEXT    NOT NULL,
    seed          INTEGER NOT NULL CHECK (seed >= 0),
    started_at    INTEGER,
    solved_at     INTEGER, -- the first full pass; kept for ever
    hints         INTEGER NOT NULL DEFAULT 0,
    solution_at   INTEGER,
    PRIMARY KEY (learner, lab, task)
) STRICT, WITHOUT ROWID;

-- One grading. Rows are never changed.
CREATE TABLE attempts (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    learner     TEXT    NOT NULL,
    lab         TEXT    NOT NULL,
    task        TEXT    NOT NULL,
    seed        INTEGER NOT NULL,
    started_at  INTEGER NOT NULL,
    finished_at INTEGER NOT NULL,
    verdict     TEXT    NOT NULL CHECK (verdict IN ('pass', 'fail', 'pending', 'error')),
    earned      INTEGER NOT NULL CHECK (earned >= 0),
    total       INTEGER NOT NULL CHECK (total >= earned),
    report      TEXT    NOT NULL CHECK (json_valid(report)),
    FOREIGN KEY (learner, lab, task) REFERENCES task_records (learner, lab, task)
) STRICT;

CREATE INDEX attempts_by_task ON attempts (learner, lab, task, id DESC);

-- What an attempt's verdicts rest on: zstd-compressed JSON. It stands apart
-- so that reading attempts does not read it.
CREATE TABLE evidence (
    attempt INTEGER PRIMARY KEY REFERENCES attempts (id),
    packed  BLOB NOT NULL
) STRICT;

-- +goose Down
DROP TABLE evidence;
DROP TABLE attempts;
DROP TABLE task_records;
