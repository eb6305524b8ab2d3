-- name: Records :many
SELECT r.lab, r.task, r.seed, r.started_at, r.solved_at, r.hints, r.solution_at,
       CAST((SELECT COUNT(*) FROM attempts a WHERE a.learner = r.learner AND a.lab = r.lab AND a.task = r.task) AS INTEGER) AS attempts,
       CAST(COALESCE((SELECT MAX(a.earned) FROM attempts a WHERE a.learner = r.learner AND a.lab = r.lab AND a.task = r.task), 0) AS INTEGER) AS best,
       last.earned AS last_earned, last.total AS last_total, last.verdict AS last_verdict
FROM task_records r
LEFT JOIN attempts last ON last.id = (
    SELECT MAX(a.id) FROM attempts a WHERE a.learner = r.learner AND a.lab = r.lab AND a.task = r.task)
WHERE r.learner = sqlc.arg(learner)
  AND (CAST(sqlc.arg(lab) AS TEXT) = '' OR r.lab = sqlc.arg(lab))
  AND (CAST(sqlc.arg(task) AS TEXT) = '' OR r.task = sqlc.arg(task));

-- name: EnsureRecord :exec
INSERT INTO task_records (learner, lab, task, seed) VALUES (?, ?, ?, ?)
ON CONFLICT DO NOTHING;

-- name: MarkStarted :exec
UPDATE task_records SET started_at = COALESCE(started_at, sqlc.arg(at))
WHERE learner = sqlc.arg(learner) AND lab = sqlc.arg(lab) AND task = sqlc.arg(task);

-- name: MarkSolved :exec
UPDATE task_records SET solved_at = COALESCE(solved_at, sqlc.arg(at))
WHERE learner = sqlc.arg(learner) AND lab = sqlc.arg(lab) AND task = sqlc.arg(task);

-- name: MarkSolutionSeen :exec
UPDATE task_records SET solution_at = COALESCE(solution_at, sqlc.arg(at))
WHERE learner = sqlc.arg(learner) AND lab = sqlc.arg(lab) AND task = sqlc.arg(task);

-- name: SetHints :exec
UPDATE task_records SET hints = MAX(hints, sqlc.arg(hints))
WHERE learner = sqlc.arg(learner) AND lab = sqlc.arg(lab) AND task = sqlc.arg(task);

-- name: InsertAttempt :one
INSERT INTO attempts (learner, lab, task, seed, started_at, finished_at, verdict, earned, total, report)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
RETURNING id;

-- name: InsertEvidence :exec
INSERT INTO evidence (attempt, packed) VALUES (?, ?);

-- name: Attempts :many
SELECT id, seed, started_at, finished_at, verdict, earned, total, report
FROM attempts
WHERE learner = ? AND lab = ? AND task = ?
ORDER BY id DESC
LIMIT ?;

-- name: Evidence :one
SELECT packed FROM evidence WHERE attempt = ?;

-- name: Watch :one
SELECT owner, renewed_at, seen_until FROM watches WHERE cluster = ?;

-- name: SetWatch :exec
INSERT INTO watches (cluster, owner, renewed_at, seen_until) VALUES (?, ?, ?, ?)
ON CONFLICT (cluster) DO UPDATE
SET owner = excluded.owner, renewed_at = excluded.renewed_at, seen_until = excluded.seen_until;

-- name: DropOldWatches :exec
DELETE FROM watches WHERE renewed_at < sqlc.arg(before);

-- name: InsertChange :exec
INSERT INTO changes (cluster, namespace, seen_at, object, uid, owner, container, state, reason, exit_code, restarts, told_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: ChangesAfter :many
SELECT * FROM changes WHERE cluster = ? AND id > ? ORDER BY id;

-- name: TrimChanges :exec
DELETE FROM changes
WHERE changes.cluster = sqlc.arg(cluster) AND changes.namespace = sqlc.arg(namespace) AND changes.id <= (
    SELECT c.id FROM changes c WHERE c.cluster = sqlc.arg(cluster) AND c.namespace = sqlc.arg(namespace)
    ORDER BY c.id DESC LIMIT 1 OFFSET sqlc.arg(keep));

-- name: InsertBlind :exec
INSERT INTO blind_spans (cluster, since, until) VALUES (?, ?, ?);

-- name: BlindAfter :many
SELECT * FROM blind_spans WHERE cluster = ? AND id > ? ORDER BY id;

-- name: TrimBlind :exec
DELETE FROM blind_spans
WHERE blind_spans.cluster = sqlc.arg(cluster) AND blind_spans.id <= (
    SELECT b.id FROM blind_spans b WHERE b.cluster = sqlc.arg(cluster)
    ORDER BY b.id DESC LIMIT 1 OFFSET sqlc.arg(keep));
