package plan

import (
	"strings"

	"github.com/dustin/go-humanize"
)

// Explain formats a plan as a tree, the result first, with the rows and bytes that each
// node is expected to yield.
func Explain(n Node) string {
	var b strings.Builder
	explain(&b, n, 0)
	return b.String()
}

func explain(b *strings.Builder, n Node, depth int) {
	b.WriteString(strings.Repeat("  ", depth))
	b.WriteString(n.String())
	if size := EstimateOf(n); size.Rows >= 0 {
		b.WriteString("  [")
		if !size.Exact {
			b.WriteString("about ")
		}
		b.WriteString(humanize.Comma(size.Rows))
		b.WriteString(" rows, ")
		b.WriteString(humanize.IBytes(uint64(size.Bytes())))
		b.WriteString("]")
	}
	b.WriteByte('\n')
	for _, input := range n.Inputs() {
		explain(b, input, depth+1)
	}
}
