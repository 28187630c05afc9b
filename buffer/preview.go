package buffer

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/text/render"
)

// PreviewOptions configure a preview. The zero value is the preview of the first 10
// rows without a limit of the width.
type PreviewOptions struct {
	// Rows is the number of rows that are shown at most. Zero means 10.
	Rows int
	// Tail shows the last rows too: half of Rows, if the table has more.
	Tail bool
	// Width is the width of the terminal in characters, which determines how text is
	// cut and how many columns are shown. Zero means no limit.
	Width int
	// HTML returns a table for a notebook.
	HTML bool
}

// Preview returns the size, the names and types of the columns and the first rows as a
// drawn table, at most 100 characters wide. [Buffer.PreviewWith] has options.
//
// # Waiting
//
// Preview waits for the work on the table, and for the row count if only the device
// has it. String does not wait, and shows no values.
func (b *Buffer) Preview(ctx context.Context, rows int) (string, error) {
	if rows <= 0 {
		rows = -1
	}
	return b.PreviewWith(ctx, PreviewOptions{Rows: rows, Width: 100})
}

// PreviewWith is [Buffer.Preview] with options. It copies only the memory of the shown
// rows to the host, and of at most 100 columns. A negative number of rows shows none.
func (b *Buffer) PreviewWith(ctx context.Context, options PreviewOptions) (text string, err error) {
	if err := b.Check(); err != nil {
		return "", err
	}
	total, err := b.NumRows(ctx)
	if err != nil {
		return "", fmt.Errorf("buffer: preview: %w", err)
	}
	rows := int64(options.Rows)
	if rows == 0 {
		rows = 10
	}
	rows = min(max(rows, 0), total)
	head, tail := rows, int64(0)
	if options.Tail && rows < total {
		head, tail = rows-rows/2, rows/2
	}
	shown := render.Table{Schema: b.schema, Rows: total, Columns: render.Columns(b.schema.NumFields())}
	if shown.Head, err = b.part(ctx, shown.Columns, 0, head); err != nil {
		return "", fmt.Errorf("buffer: preview: %w", err)
	}
	defer shown.Head.Release()
	if tail > 0 {
		if shown.Tail, err = b.part(ctx, shown.Columns, total-tail, tail); err != nil {
			return "", fmt.Errorf("buffer: preview: %w", err)
		}
		defer shown.Tail.Release()
	}
	if options.HTML {
		return shown.HTML(), nil
	}
	return shown.Text(options.Width), nil
}

// part copies rows of some of the columns to the host.
func (b *Buffer) part(ctx context.Context, places []int, offset, length int64) (arrow.Record, error) {
	fields := make([]arrow.Field, len(places))
	columns := make([]*column.Column, len(places))
	for i, place := range places {
		fields[i], columns[i] = b.schema.Field(place), b.columns[place]
	}
	selected, err := b.with(fields, columns)
	if err != nil {
		return nil, err
	}
	defer selected.Release()
	part, err := selected.Slice(offset, length)
	if err != nil {
		return nil, err
	}
	defer part.Release()
	return part.Record(ctx)
}

// headline returns the size of the table in one line.
func (b *Buffer) headline() string {
	if b == nil {
		return "nil buffer"
	}
	rows := fmt.Sprintf("at most %d", b.capacity)
	if count, known := b.HostRows(); known {
		rows = fmt.Sprint(count)
	}
	return fmt.Sprintf("buffer of %s rows × %d columns", rows, len(b.columns))
}

// String returns the number of rows and the schema, a line for each column. It never
// waits, so it shows no values and no row count that only the device has: use
// [Buffer.Preview].
func (b *Buffer) String() string {
	if b == nil || b.schema == nil {
		return b.headline()
	}
	var text strings.Builder
	text.WriteString(b.headline())
	var lines [][]string
	for _, field := range b.schema.Fields() {
		nullable := ""
		if field.Nullable {
			nullable = "nullable"
		}
		lines = append(lines, []string{"  " + field.Name, field.Type.String(), nullable})
	}
	writeLines(&text, lines)
	return text.String()
}

// writeLines writes cells in aligned columns.
func writeLines(text *strings.Builder, lines [][]string) {
	var widths [2]int
	for _, line := range lines {
		widths[0], widths[1] = max(widths[0], utf8.RuneCountInString(line[0])), max(widths[1], utf8.RuneCountInString(line[1]))
	}
	for _, line := range lines {
		text.WriteString(strings.TrimRight(fmt.Sprintf("\n%-*s  %-*s  %s", widths[0], line[0], widths[1], line[1], line[2]), " "))
	}
}
