package labs

import (
	"embed"
	"io/fs"
)

//go:embed ckad-*
var embedded embed.FS

// Embedded returns the folders of the labs that are part of the program.
func Embedded() fs.FS { return embedded }
