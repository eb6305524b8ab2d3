package text

import (
	"github.com/podproof/podproof/grader"
	"github.com/podproof/podproof/labs"
)

// Message renders a grader's message.
func (c *Catalog) Message(lang labs.Lang, m grader.Message) string {
	return c.Render(lang, m.ID, m.Args)
}
