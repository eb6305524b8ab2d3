package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/pressly/goose/v3"
	driver "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// ErrDamaged, ErrNewer and ErrFull are wrapped by errors that name the file
// and the way out.
var (
	ErrDamaged = errors.New("the database is damaged or is no SQLite database")
	ErrNewer   = errors.New("the database was written by a later version of podproof")
	ErrFull    = errors.New("the disk is full")
)

// inspect looks at an existing file without being able to write to it: opening
// it for writing could recover a journal over what is left of a damaged one.
func inspect(ctx context.Context, path string, schema fs.FS) error {
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) || err == nil && info.Size() == 0 {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look at the database: %w", err)
	}
	if info.IsDir() {
		return fmt.Errorf("%w: %s is a folder; name another file", ErrDamaged, path)
	}
	db, err := sql.Open("sqlite", dsn(path, url.Values{"mode": {"ro"}, "_pragma": {"busy_timeout(10000)"}}))
	if err != nil {
		return explain(path, err)
	}
	defer func() { _ = db.Close() }() // opened for reading only
	return errors.Join(check(ctx, db, path), checkVersion(ctx, db, path, schema))
}

// check runs SQLite's own check of the file's structure.
func check(ctx context.Context, db *sql.DB, path string) error {
	rows, err := db.QueryContext(ctx, "PRAGMA quick_check(5)")
	if err != nil {
		return explain(path, err)
	}
	defer func() { _ = rows.Close() }() // Err below has what matters
	var found []string
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			return explain(path, err)
		}
		if line != "ok" {
			found = append(found, line)
		}
	}
	if err := rows.Err(); err != nil {
		return explain(path, err)
	}
	if len(found) > 0 {
		return damaged(path, strings.Join(found, "; "))
	}
	return nil
}

// checkVersion refuses a schema that this binary does not know.
func checkVersion(ctx context.Context, db *sql.DB, path string, schema fs.FS) error {
	var tables int
	if err := db.QueryRowContext(ctx,
		"SELECT COUNT(*) FROM sqlite_schema WHERE name = 'goose_db_version'").Scan(&tables); err != nil {
		if err := explain(path, err); !errors.Is(err, ErrDamaged) {
			return err
		}
		return nil // check has reported it
	}
	if tables == 0 {
		return nil
	}
	var have int64
	if err := db.QueryRowContext(ctx,
		"SELECT COALESCE(MAX(version_id), 0) FROM goose_db_version WHERE is_applied").Scan(&have); err != nil {
		return explain(path, err)
	}
	known, err := latest(schema)
	if err != nil {
		return err
	}
	if have > known {
		return fmt.Errorf("%w: %s has schema %d and this podproof knows up to %d; "+
			"use the later podproof again, or start this one with another data folder (--data)",
			ErrNewer, path, have, known)
	}
	return nil
}

func latest(schema fs.FS) (int64, error) {
	p, err := goose.NewProvider(goose.DialectSQLite3, new(sql.DB), schema)
	if err != nil {
		return 0, fmt.Errorf("read migrations: %w", err)
	}
	sources := p.ListSources()
	return sources[len(sources)-1].Version, nil
}

// migrate brings the schema up to date. Where there is an older one, a copy of
// the whole database is made first and kept.
func migrate(ctx context.Context, db *sql.DB, path string, schema fs.FS) error {
	p, err := goose.NewProvider(goose.DialectSQLite3, db, schema)
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	have, err := p.GetDBVersion(ctx)
	if err != nil {
		return explain(path, err)
	}
	pending, err := p.HasPending(ctx)
	if err != nil {
		return explain(path, err)
	}
	if !pending {
		return nil
	}
	if have > 0 {
		if err := backUp(ctx, db, path, have); err != nil {
			return err
		}
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("bring the schema of %s up to date: %w", path, explain(path, err))
	}
	return nil
}

// backUp writes a consistent copy beside the database.
func backUp(ctx context.Context, db *sql.DB, path string, version int64) error {
	name := fmt.Sprintf("%s.v%d-%s", path, version, time.Now().UTC().Format("20060102T150405"))
	if _, err := db.ExecContext(ctx, "VACUUM INTO ?", name); err != nil {
		return fmt.Errorf("copy the database to %s before its schema changes: %w", name, explain(path, err))
	}
	return nil
}

// explain says of SQLite's own errors what they mean for people.
func explain(path string, err error) error {
	var e *driver.Error
	if !errors.As(err, &e) {
		return err
	}
	// The low byte is the primary code; the rest refines it.
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT:
		return damaged(path, e.Error())
	case sqlite3.SQLITE_FULL:
		return fmt.Errorf("%w: nothing could be written to %s; what was stored before is safe; "+
			"free some space and try again (%w)", ErrFull, path, err)
	case sqlite3.SQLITE_IOERR:
		return fmt.Errorf("the disk under %s failed to read or write: %w", path, err)
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM:
		return fmt.Errorf("%s or its folder cannot be opened for writing; check who owns them: %w", path, err)
	case sqlite3.SQLITE_BUSY:
		return fmt.Errorf("another process has held %s for more than %s; see whether a second podproof hangs: %w",
			path, busyTimeout, err)
	default:
		return fmt.Errorf("%s: %w", path, err)
	}
}

func damaged(path, detail string) error {
	return fmt.Errorf("%w: %s was left as it is (%s); move it away to start afresh, "+
		"put back a copy (copies made before upgrades stand beside it as %s.v*), "+
		"or save what can be read with: sqlite3 %q .recover",
		ErrDamaged, path, detail, path, path)
}
