package plan

import (
	"context"
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe/internal/io/source"
)

// Explain formats a plan as a tree, the result first, with the rows and bytes that each
// node is expected to yield.
func Explain(n Node) string {
	return Format(n, sizeNotes())
}

// ExplainScans is [Explain] with a further note after each scan whose source knows, without
// reading rows, which of its parts are left out. It may read the footers of files.
func ExplainScans(ctx context.Context, n Node) string { return Format(n, scanNotes(ctx)) }

// scanNotes returns a function that describes the expected size of nodes of one plan, and what scans leave out.
func scanNotes(ctx context.Context) func(Node) string {
	sizeNote := sizeNotes()
	return func(n Node) string {
		text := sizeNote(n)
		scan, isScan := n.(*Scan)
		if !isScan || len(scan.where) == 0 {
			return text
		}
		return text + exclusionNote(ctx, scan)
	}
}

// sizeNotes returns a function that describes the expected size of nodes of one plan.
func sizeNotes() func(Node) string {
	a := NewAnalysis()
	return func(n Node) string {
		size := a.SizeOf(n)
		if size.Rows < 0 {
			return ""
		}
		about := "about "
		if size.Exact {
			about = ""
		}
		return fmt.Sprintf("[%s%s rows, %s]", about, humanize.Comma(size.Rows), humanize.IBytes(uint64(size.Bytes())))
	}
}

// exclusionNote describes what statistics leave out of a scan. The run reports an error of a
// source.
func exclusionNote(ctx context.Context, s *Scan) string {
	excluder, ok := s.source.(source.Excluder)
	if !ok {
		return ""
	}
	e, err := excluder.Excluded(ctx, s.where)
	if err != nil || e.RowGroups == 0 {
		return ""
	}
	text := fmt.Sprintf(" [at least %s of %s row groups", humanize.Comma(int64(e.SkippedRowGroups)), humanize.Comma(int64(e.RowGroups)))
	if e.Files > 1 {
		text += fmt.Sprintf(" and %s of %s files", humanize.Comma(int64(e.SkippedFiles)), humanize.Comma(int64(e.Files)))
	}
	text += " left out by statistics"
	if e.SkippedRows > 0 {
		text += fmt.Sprintf(", %s of %s other rows by page indices", humanize.Comma(e.SkippedRows), humanize.Comma(e.Rows))
	}
	if e.Values {
		text += ", more perhaps by dictionaries and Bloom filters"
	}
	return text + "]"
}

// Format formats a plan as a tree, the result first, with a note after each node. A note may
// be empty. A node that several others read is written for each of them, until the text has
// mostLines lines. From then on its inputs are written once.
func Format(n Node, note func(Node) string) string {
	f := formatter{note: note, seen: map[Node]bool{}}
	f.write(n, 0)
	return f.text.String()
}

// mostLines is the number of lines with nodes that are written several times, mostIndents the
// number of levels that are indented.
const mostLines, mostIndents = 500, 100

// formatter writes one plan.
type formatter struct {
	note  func(Node) string
	text  strings.Builder
	lines int
	seen  map[Node]bool
}

func (f *formatter) write(n Node, depth int) {
	f.lines++
	f.text.WriteString(strings.Repeat("  ", min(depth, mostIndents)))
	f.text.WriteString(n.String())
	if text := f.note(n); text != "" {
		f.text.WriteString("  ")
		f.text.WriteString(text)
	}
	if f.seen[n] && f.lines > mostLines && len(n.Inputs()) > 0 {
		f.text.WriteString("  (as above)\n")
		return
	}
	f.seen[n] = true
	f.text.WriteByte('\n')
	for _, input := range n.Inputs() {
		f.write(input, depth+1)
	}
}
