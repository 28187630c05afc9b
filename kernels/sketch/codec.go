package sketch

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// A codec writes and reads the values of a sketch: longs those of DataSketches' LongsSketch, texts those of its ItemsSketch of strings.
type codec[T cmp.Ordered] interface {
	// kind is the word for the items in names of functions.
	kind() string
	// write appends an item to bytes.
	write(b []byte, item T) []byte
	// read reads the first item of bytes. It returns false if they are too few.
	read(b []byte) (item T, rest []byte, ok bool)
	// dataType is the type of a column of items, and append appends one.
	dataType() arrow.DataType
	append(to array.Builder, item T)
	// items returns a function that returns the items of a column, if it can have some.
	items(values arrow.Array) func(i int) T
}

type (
	longs struct{}
	texts struct{}
)

func (longs) kind() string { return "longs" }
func (texts) kind() string { return "items" }

func (longs) write(b []byte, item int64) []byte {
	return binary.LittleEndian.AppendUint64(b, uint64(item))
}

func (texts) write(b []byte, item string) []byte {
	return append(binary.LittleEndian.AppendUint32(b, uint32(len(item))), item...)
}

func (longs) read(b []byte) (item int64, rest []byte, ok bool) {
	if len(b) < 8 {
		return 0, nil, false
	}
	return int64(binary.LittleEndian.Uint64(b)), b[8:], true
}

func (texts) read(b []byte) (item string, rest []byte, ok bool) {
	if len(b) < 4 || uint64(binary.LittleEndian.Uint32(b)) > uint64(len(b)-4) {
		return "", nil, false
	}
	end := 4 + int(binary.LittleEndian.Uint32(b))
	return string(b[4:end]), b[end:], true
}

// nameOf returns the name of a function of values of a kind: kll_longs_merge.
func nameOf[T cmp.Ordered, C codec[T]](sketch, function string) string {
	var c C
	parts := slices.DeleteFunc([]string{sketch, c.kind(), function}, func(part string) bool { return part == "" })
	return strings.Join(parts, "_")
}

func (longs) dataType() arrow.DataType { return arrow.PrimitiveTypes.Int64 }
func (texts) dataType() arrow.DataType { return arrow.BinaryTypes.String }

func (longs) append(to array.Builder, item int64) { to.(*array.Int64Builder).Append(item) }

// append writes characters of UTF-8: bytes of others may have anything.
func (texts) append(to array.Builder, item string) {
	to.(*array.StringBuilder).Append(strings.ToValidUTF8(item, "\ufffd"))
}

func (longs) items(values arrow.Array) func(i int) int64 {
	if a, ok := values.(*array.Boolean); ok {
		return func(i int) int64 {
			if a.Value(i) {
				return 1
			}
			return 0
		}
	}
	return func(i int) int64 { return integerOf(values, i) }
}

func (texts) items(values arrow.Array) func(i int) string {
	return values.(interface{ Value(i int) string }).Value
}

// isText and isLong report the types of the values of sketches of both kinds.
func isText(t arrow.DataType) bool {
	return t.ID() == arrow.STRING || t.ID() == arrow.LARGE_STRING
}

func isLong(t arrow.DataType) bool {
	return t.ID() == arrow.BOOL || arrow.IsInteger(t.ID()) || isTime(t)
}

func isTime(t arrow.DataType) bool {
	switch t.ID() {
	case arrow.DATE32, arrow.DATE64, arrow.TIMESTAMP, arrow.TIME32, arrow.TIME64, arrow.DURATION:
		return true
	}
	return false
}
