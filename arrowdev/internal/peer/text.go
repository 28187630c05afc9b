package peer

import (
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// Text returns the elements of an arrow-go array as text, one a line, as the consumer
// writes them.
func Text(a arrow.Array) string {
	var out strings.Builder
	for i := range a.Len() {
		write(&out, a, i)
		out.WriteByte('\n')
	}
	return out.String()
}

// RecordText returns the rows of a record as text, as the consumer writes those of its
// struct array.
func RecordText(record arrow.Record) string {
	var out strings.Builder
	for i := range int(record.NumRows()) {
		out.WriteByte('{')
		for k, column := range record.Columns() {
			separate(&out, k)
			write(&out, column, i)
		}
		out.WriteString("}\n")
	}
	return out.String()
}

func separate(out *strings.Builder, k int) {
	if k > 0 {
		out.WriteByte(',')
	}
}

func write(out *strings.Builder, a arrow.Array, i int) {
	switch a := a.(type) {
	case array.ExtensionArray:
		write(out, a.Storage(), i)
		return
	case *array.RunEndEncoded:
		write(out, a.Values(), a.GetPhysicalIndex(i))
		return
	case array.Union:
		at := i
		if dense, ok := a.(*array.DenseUnion); ok {
			at = int(dense.ValueOffset(i))
		}
		fmt.Fprintf(out, "(%d:", a.TypeCode(i))
		write(out, a.Field(a.ChildID(i)), at)
		out.WriteByte(')')
		return
	}
	if a.DataType().ID() == arrow.NULL || a.IsNull(i) {
		out.WriteString("null")
		return
	}
	switch a := a.(type) {
	case *array.Dictionary:
		write(out, a.Dictionary(), a.GetValueIndex(i))
	case *array.Boolean:
		fmt.Fprint(out, a.Value(i))
	case *array.Struct:
		out.WriteByte('{')
		for k := range a.NumField() {
			separate(out, k)
			write(out, a.Field(k), i)
		}
		out.WriteByte('}')
	case array.ListLike:
		from, to := a.ValueOffsets(i)
		out.WriteByte('[')
		for k := from; k < to; k++ {
			separate(out, int(k-from))
			write(out, a.ListValues(), int(k))
		}
		out.WriteByte(']')
	case *array.String:
		quote(out, a.Value(i))
	case *array.LargeString:
		quote(out, a.Value(i))
	case *array.StringView:
		quote(out, a.Value(i))
	case *array.Binary:
		quote(out, string(a.Value(i)))
	case *array.LargeBinary:
		quote(out, string(a.Value(i)))
	case *array.BinaryView:
		quote(out, string(a.Value(i)))
	default:
		writeFixed(out, a, i)
	}
}

// writeFixed writes the bytes of a value in memory order.
func writeFixed(out *strings.Builder, a arrow.Array, i int) {
	width := a.DataType().(arrow.FixedWidthDataType).BitWidth() / 8
	out.WriteByte('x')
	if width == 0 {
		return
	}
	at := (a.Data().Offset() + i) * width
	fmt.Fprintf(out, "%x", a.Data().Buffers()[1].Bytes()[at:at+width])
}

func quote(out *strings.Builder, text string) {
	out.WriteByte('"')
	for k := range len(text) {
		if c := text[k]; c >= ' ' && c < 0x7f && c != '"' && c != '\\' {
			out.WriteByte(c)
		} else {
			fmt.Fprintf(out, `\x%02x`, c)
		}
	}
	out.WriteByte('"')
}
