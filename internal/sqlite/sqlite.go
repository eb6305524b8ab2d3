// Package sqlite keeps what learners did in one SQLite file. It implements
// the ports that the use cases declare.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/podproof/podproof/internal/sqlite/queries"
	"github.com/podproof/podproof/migrations"
)

// busyTimeout is how long a statement waits for another process's write.
const busyTimeout = 10 * time.Second

// Store is an open database. It is safe for concurrent use, by several
// processes too.
type Store struct {
	path    string
	writer  *sql.DB // one connection: SQLite has one writer anyway
	readers *sql.DB
	write   *queries.Queries
	read    *queries.Queries
}

// Open opens the database at path, makes it where there is none, and brings
// its schema up to date, keeping a copy of the older one beside it. It fails
// without changing anything where the file is damaged, is no database, or was
// written by a later version of podproof; the error says what to do.
func Open(ctx context.Context, path string) (*Store, error) {
	return open(ctx, path, migrations.FS)
}

func open(ctx context.Context, path string, schema fs.FS) (*Store, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("make the folder for the database: %w", err)
	}
	if err := inspect(ctx, path, schema); err != nil {
		return nil, err
	}
	writer, err := connect(path, "rwc", 1)
	if err != nil {
		return nil, err
	}
	if err := migrate(ctx, writer, path, schema); err != nil {
		return nil, errors.Join(err, writer.Close())
	}
	readers, err := connect(path, "ro", max(2, runtime.NumCPU()))
	if err != nil {
		return nil, errors.Join(err, writer.Close())
	}
	return &Store{
		path:    path,
		writer:  writer,
		readers: readers,
		write:   queries.New(writer),
		read:    queries.New(readers),
	}, nil
}

// Close waits for running statements and closes the file.
func (s *Store) Close() error {
	return explain(s.path, errors.Join(s.readers.Close(), s.writer.Close()))
}

// connect opens a pool. mode is SQLite's: "ro", "rw" or "rwc".
func connect(path, mode string, conns int) (*sql.DB, error) {
	q := url.Values{"mode": {mode}, "_txlock": {"immediate"}}
	for _, pragma := range []string{
		fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds()),
		"foreign_keys(1)",
		"synchronous(FULL)", // an attempt that was shown must survive a power cut
	} {
		q.Add("_pragma", pragma)
	}
	if mode != "ro" {
		q.Add("_pragma", "journal_mode(WAL)")
	}
	db, err := sql.Open("sqlite", dsn(path, q))
	if err != nil {
		return nil, explain(path, err)
	}
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	return db, nil
}

// dsn escapes the path, which may hold "?" or "%".
func dsn(path string, q url.Values) string {
	return (&url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path), RawQuery: q.Encode()}).String()
}
