package plan

import (
	"context"
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe/internal/source"
)

// Explain formats a plan as a tree, the result first, with the rows and bytes that each
// node is expected to yield.
func Explain(n Node) string {
	return Format(n, sizeNote)
}

// ExplainScans is [Explain] with a further note after each scan whose source knows, without
// reading rows, which of its parts are left out. It may read the footers of files.
func ExplainScans(ctx context.Context, n Node) string {
	return Format(n, func(n Node) string {
		text := sizeNote(n)
		scan, is := n.(*Scan)
		if !is || len(scan.where) == 0 {
			return text
		}
		return text + exclusionNote(ctx, scan)
	})
}

func sizeNote(n Node) string {
	size := EstimateOf(n)
	if size.Rows < 0 {
		return ""
	}
	about := "about "
	if size.Exact {
		about = ""
	}
	return fmt.Sprintf("[%s%s rows, %s]", about, humanize.Comma(size.Rows), humanize.IBytes(uint64(size.Bytes())))
}

// exclusionNote describes what statistics leave out of a scan. The run reports an error of a
// source.
func exclusionNote(ctx context.Context, s *Scan) string {
	of, is := s.source.(source.Excluder)
	if !is {
		return ""
	}
	e, err := of.Excluded(ctx, s.where)
	if err != nil || e.RowGroups == 0 {
		return ""
	}
	text := fmt.Sprintf(" [at least %s of %s row groups", humanize.Comma(int64(e.SkippedRowGroups)), humanize.Comma(int64(e.RowGroups)))
	if e.Files > 1 {
		text += fmt.Sprintf(" and %s of %s files", humanize.Comma(int64(e.SkippedFiles)), humanize.Comma(int64(e.Files)))
	}
	text += " left out by statistics"
	if e.Values {
		text += ", more perhaps by dictionaries and Bloom filters"
	}
	return text + "]"
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
