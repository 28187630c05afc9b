package gpuframe

import (
	"context"
	"errors"
	"os"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"golang.org/x/term"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/text/render"
)

// Frame is a result: a table of known length in device memory. It is immutable. Its
// methods may be called from any goroutine, but not after Release.
type Frame struct {
	engine *Engine
	table  *buffer.Buffer
	rows   int64
}

// newFrame takes over a table of known length.
func newFrame(engine *Engine, table *buffer.Buffer) (*Frame, error) {
	rows, known := table.HostRows()
	if !known {
		return nil, errors.Join(errors.New("gpuframe: the number of rows of a result is not known"), table.Release())
	}
	return &Frame{engine, table, rows}, nil
}

// NumRows returns the number of rows.
func (f *Frame) NumRows() int64 { return f.rows }

// Schema returns the names and types of the columns.
func (f *Frame) Schema() *arrow.Schema { return f.table.Schema() }

// Table returns the table, for the operators in kernels and for packages arrowdev and dlpack.
// The frame owns it.
func (f *Frame) Table() *buffer.Buffer { return f.table }

// Column returns a column by its name, or nil for an unknown name. The frame owns it.
func (f *Frame) Column(name string) *column.Column {
	at := f.table.Schema().FieldIndices(name)
	if len(at) == 0 {
		return nil
	}
	return f.table.Column(at[0])
}

// Record copies the frame to host memory. The caller releases the record.
func (f *Frame) Record(ctx context.Context) (arrow.Record, error) { return f.table.Record(ctx) }

// Query returns a query on the rows of the frame, which must not be released before the
// query has run.
func (f *Frame) Query() Query { return f.engine.Table(f.table) }

// Watched returns [Frame.Query], and a function that reports whether that query or one that was made of it may
// still run. It returns false when the garbage collector has found that nothing refers to them: then the frame can be
// released. The query must not be kept with the function.
func (f *Frame) Watched() (q Query, inUse func() bool) {
	opened, inUse, failure := source.Watched(f.table)
	if failure != nil {
		inUse = func() bool { return false }
	}
	return f.engine.scanAt("Table", caller(), opened, failure), inUse
}

// Release releases the memory. Further calls are an error, as for a table.
func (f *Frame) Release() error { return f.table.Release() }

// previewRows is the number of rows that String shows.
const previewRows = 10

// String shows the size, the columns and some rows. It copies them from the device.
func (f *Frame) String() string {
	text, err := f.table.PreviewWith(context.Background(), buffer.PreviewOptions{Rows: previewRows, Tail: true, Width: terminalWidth()})
	if err != nil {
		return "gpuframe: frame: " + err.Error()
	}
	return text
}

// HTML shows the same as String as a table for a notebook or a page.
func (f *Frame) HTML() string {
	text, err := f.table.PreviewWith(context.Background(), buffer.PreviewOptions{Rows: previewRows, Tail: true, HTML: true})
	if err != nil {
		return "<p>" + render.EscapeHTML("gpuframe: frame: "+err.Error()) + "</p>"
	}
	return text
}

// terminalWidth returns the width of the terminal that the process writes to, or 100
// characters without a terminal.
func terminalWidth() int {
	if width, _, err := term.GetSize(int(os.Stdout.Fd())); err == nil && width > 0 {
		return width
	}
	return 100
}

// indented indents the lines of a text.
func indented(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n  ") + "\n"
}
