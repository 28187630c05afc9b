package buffer

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arraytext"
)

const (
	// previewColumns is the number of columns in a preview, previewWidth the number
	// of characters of a value.
	previewColumns = 12
	previewWidth   = 32
)

// Preview returns the schema and the first rows as text: one line for each row, at
// most 12 columns. It copies only the memory of those rows to the host.
//
// # Waiting
//
// Preview waits for the work on the table, and for the row count if only the device
// has it. String does not wait, and shows no values.
func (b *Buffer) Preview(ctx context.Context, rows int) (string, error) {
	if err := b.Check(); err != nil {
		return "", err
	}
	total, err := b.NumRows(ctx)
	if err != nil {
		return "", fmt.Errorf("buffer: preview: %w", err)
	}
	shown := min(max(int64(rows), 0), total)
	head, err := b.head(shown)
	if err != nil {
		return "", fmt.Errorf("buffer: preview: %w", err)
	}
	defer head.Release()
	record, err := head.Record(ctx)
	if err != nil {
		return "", fmt.Errorf("buffer: preview: %w", err)
	}
	defer record.Release()
	var text strings.Builder
	text.WriteString(b.headline())
	writeTable(&text, cells(record))
	if hidden := len(b.columns) - int(record.NumCols()); hidden > 0 {
		fmt.Fprintf(&text, "\n… and %d more columns", hidden)
	}
	if rest := total - shown; rest > 0 {
		fmt.Fprintf(&text, "\n… and %d more rows", rest)
	}
	return text.String(), nil
}

// head returns the first rows of the columns of a preview.
func (b *Buffer) head(rows int64) (*Buffer, error) {
	count := min(len(b.columns), previewColumns)
	fields := make([]arrow.Field, count)
	columns := make([]*column.Column, count)
	for i := range columns {
		fields[i], columns[i] = b.schema.Field(i), b.columns[i]
	}
	selected, err := b.with(fields, columns)
	if err != nil {
		return nil, err
	}
	defer selected.Release()
	return selected.Slice(0, rows)
}

// cells returns the names, the types and the values, line by line.
func cells(record arrow.Record) [][]string {
	lines := make([][]string, 2+record.NumRows())
	for i, c := range record.Columns() {
		field := record.Schema().Field(i)
		lines[0] = append(lines[0], shortened(field.Name))
		lines[1] = append(lines[1], shortened(field.Type.String()))
		for row := range c.Len() {
			lines[2+row] = append(lines[2+row], shortened(arraytext.Value(c, row)))
		}
	}
	return lines
}

// shortened cuts a value to one line of previewWidth characters.
func shortened(value string) string {
	value = strings.NewReplacer("\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(strings.ToValidUTF8(value, "\uFFFD"))
	if utf8.RuneCountInString(value) <= previewWidth {
		return value
	}
	return string([]rune(value)[:previewWidth-1]) + "…"
}

// writeTable writes the cells in aligned columns, one line for each row.
func writeTable(text *strings.Builder, lines [][]string) {
	if len(lines) == 0 || len(lines[0]) == 0 {
		return
	}
	widths := make([]int, len(lines[0]))
	for _, line := range lines {
		for i, cell := range line {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, line := range lines {
		var whole strings.Builder
		for i, cell := range line {
			if i > 0 {
				whole.WriteString(strings.Repeat(" ", 2+widths[i-1]-utf8.RuneCountInString(line[i-1])))
			}
			whole.WriteString(cell)
		}
		text.WriteByte('\n')
		text.WriteString(strings.TrimRight(whole.String(), " "))
	}
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
	writeTable(&text, lines)
	return text.String()
}
