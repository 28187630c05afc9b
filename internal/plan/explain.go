package plan

import (
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"
)

// Explain formats a plan as a tree, the result first, with the rows and bytes that each
// node is expected to yield.
func Explain(n Node) string {
	return Format(n, func(n Node) string {
		size := EstimateOf(n)
		if size.Rows < 0 {
			return ""
		}
		about := "about "
		if size.Exact {
			about = ""
		}
		return fmt.Sprintf("[%s%s rows, %s]", about, humanize.Comma(size.Rows), humanize.IBytes(uint64(size.Bytes())))
	})
}

// Format formats a plan as a tree, the result first, with a note after each node. A note may
// be empty.
func Format(n Node, note func(Node) string) string {
	var b strings.Builder
	format(&b, n, 0, note)
	return b.String()
}

func format(b *strings.Builder, n Node, depth int, note func(Node) string) {
	b.WriteString(strings.Repeat("  ", depth))
	b.WriteString(n.String())
	if text := note(n); text != "" {
		b.WriteString("  ")
		b.WriteString(text)
	}
	b.WriteByte('\n')
	for _, input := range n.Inputs() {
		format(b, input, depth+1, note)
	}
}
