// Package assets holds the browser's files: TypeScript and CSS in src, built
// into dist by `npm ci && npm run build` and embedded in the binary.
package assets

import "embed"

// Dist is the build's output below "dist": manifest.json and the files that it
// names, with .br and .gz beside each. In a checkout that has not been built it
// holds nothing but a placeholder.
//
//go:embed all:dist
var Dist embed.FS
