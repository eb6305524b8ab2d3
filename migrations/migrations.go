// Package migrations holds the database's schema as goose migrations. A file
// that has been released is never changed; a later one corrects it.
package migrations

import "embed"

// FS holds the migrations at its root.
//
//go:embed *.sql
var FS embed.FS
