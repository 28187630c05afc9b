package source_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/metadata"
	"github.com/apache/arrow/go/v17/parquet/schema"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/io/source/pages"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/memory"
)

// shape is a column, or a part of one, as other writers than arrow-go write it.
type shape struct {
	name     string
	optional bool
	kind     shapeKind
	// leaf is the type of a leaf.
	leaf parquet.Type
	// twoLevels is set for lists without a group between list and element.
	twoLevels bool
	// children are the element of a list, the key and the value of a map, or the fields of a struct.
	children []*shape

	// The values of a leaf, with their levels.
	values                 []any
	definition, repetition []int16
}

type shapeKind int

const (
	leafShape shapeKind = iota
	unknownShape
	listShape
	structShape
	mapShape
)

// drawShape draws a column.
func drawShape(t *rapid.T, name string, depth int) *shape {
	s := &shape{name: name, optional: rapid.Bool().Draw(t, "optional")}
	s.kind = shapeKind(rapid.IntRange(0, 4).Draw(t, "kind"))
	if depth == 0 || s.kind == unknownShape && rapid.IntRange(0, 3).Draw(t, "known") > 0 {
		s.kind = leafShape
	}
	switch s.kind {
	case leafShape:
		s.leaf = rapid.SampledFrom([]parquet.Type{parquet.Types.Int32, parquet.Types.Int64, parquet.Types.Double, parquet.Types.Float, parquet.Types.Int96, parquet.Types.ByteArray}).Draw(t, "type")
	case unknownShape:
		s.leaf = parquet.Types.ByteArray
	case listShape:
		element := drawShape(t, "element", depth-1)
		if s.twoLevels = rapid.Bool().Draw(t, "two levels"); s.twoLevels {
			element.name, element.optional = "array", false
		}
		s.children = []*shape{element}
	case structShape:
		for i := range rapid.IntRange(1, 3).Draw(t, "fields") {
			s.children = append(s.children, drawShape(t, fmt.Sprint("f", i), depth-1))
		}
	case mapShape:
		key := &shape{name: "key", optional: rapid.IntRange(0, 3).Draw(t, "optional key") == 0, leaf: parquet.Types.ByteArray}
		s.children = []*shape{key, drawShape(t, "value", depth-1)}
	}
	return s
}

// refused reports whether arrow-go has no type for a part of the column.
func (s *shape) refused() bool {
	if s.kind == unknownShape || s.kind == mapShape && s.children[0].optional {
		return true
	}
	for _, child := range s.children {
		if child.refused() {
			return true
		}
	}
	return false
}

// node returns the column in the schema of a file.
func (s *shape) node(t require.TestingT, repetition parquet.Repetition) schema.Node {
	if repetition == parquet.Repetitions.Undefined {
		repetition = parquet.Repetitions.Required
		if s.optional {
			repetition = parquet.Repetitions.Optional
		}
	}
	var children schema.FieldList
	for _, child := range s.children {
		of := parquet.Repetitions.Undefined
		if s.twoLevels {
			of = parquet.Repetitions.Repeated
		}
		children = append(children, child.node(t, of))
	}
	group := func(name string) schema.FieldList {
		n, err := schema.NewGroupNode(name, parquet.Repetitions.Repeated, children, -1)
		require.NoError(t, err)
		return schema.FieldList{n}
	}
	var made schema.Node
	var err error
	switch s.kind {
	case leafShape:
		made, err = schema.NewPrimitiveNode(s.name, repetition, s.leaf, -1, -1)
	case unknownShape: // withUnknownTypes changes it
		made, err = schema.NewPrimitiveNodeLogical(s.name, repetition, schema.JSONLogicalType{}, s.leaf, 0, -1)
	case listShape:
		if !s.twoLevels {
			children = group("list")
		}
		made, err = schema.NewGroupNodeLogical(s.name, repetition, children, schema.NewListLogicalType(), -1)
	case mapShape:
		made, err = schema.NewGroupNodeLogical(s.name, repetition, group("key_value"), schema.MapLogicalType{}, -1)
	default:
		made, err = schema.NewGroupNode(s.name, repetition, children, -1)
	}
	require.NoError(t, err)
	return made
}

// leaves returns the leaves in the order of a file.
func (s *shape) leaves() (list []*shape) {
	if len(s.children) == 0 {
		return []*shape{s}
	}
	for _, child := range s.children {
		list = append(list, child.leaves()...)
	}
	return list
}

// value draws a value, as JSON has it.
func (s *shape) value(random *rand.Rand) any {
	if s.optional && random.IntN(4) == 0 {
		return nil
	}
	list := func(element func() any) any {
		made := make([]any, random.IntN(4))
		for i := range made {
			made[i] = element()
		}
		return made
	}
	fields := func() any {
		made := map[string]any{}
		for _, child := range s.children {
			made[child.name] = child.value(random)
		}
		return made
	}
	switch s.kind {
	case listShape:
		return list(func() any { return s.children[0].value(random) })
	case mapShape:
		return list(fields)
	case structShape:
		return fields()
	}
	switch s.leaf {
	case parquet.Types.Int32:
		return random.Int32()
	case parquet.Types.Int64:
		return int64(random.Int32())
	case parquet.Types.Float:
		return random.Float32()
	case parquet.Types.Double:
		return random.Float64()
	case parquet.Types.Int96:
		return time.Unix(int64(random.IntN(400_000)-200_000)*86_400, int64(random.Int32())).UTC()
	}
	return fmt.Appendf(nil, "text %d", random.IntN(20))
}

// shown is the value of a column as it is read: timestamps as arrow-go prints them, or null where
// nanoseconds do not hold them.
func shown(v any) any {
	switch v := v.(type) {
	case []any:
		made := make([]any, len(v))
		for i, element := range v {
			made[i] = shown(element)
		}
		return made
	case map[string]any:
		made := map[string]any{}
		for name, field := range v {
			made[name] = shown(field)
		}
		return made
	case time.Time:
		if v.Before(time.Unix(0, math.MinInt64)) || v.After(time.Unix(0, math.MaxInt64)) {
			return nil
		}
		return v.Format("2006-01-02 15:04:05.999999999Z")
	}
	return v
}

// shred adds a value to the leaves.
func (s *shape) shred(v any, repetition, definition, deepest int16) {
	if s.optional {
		if v == nil {
			s.absent(repetition, definition)
			return
		}
		definition++
	}
	switch s.kind {
	case leafShape, unknownShape:
		s.values = append(s.values, v)
		s.definition, s.repetition = append(s.definition, definition), append(s.repetition, repetition)
	case structShape:
		for _, child := range s.children {
			child.shred(v.(map[string]any)[child.name], repetition, definition, deepest)
		}
	default:
		elements := v.([]any)
		if len(elements) == 0 {
			s.absent(repetition, definition)
		}
		for i, element := range elements {
			if i > 0 {
				repetition = deepest + 1
			}
			for _, child := range s.children {
				if fields, is := element.(map[string]any); is && s.kind == mapShape {
					child.shred(fields[child.name], repetition, definition+1, deepest+1)
				} else {
					child.shred(element, repetition, definition+1, deepest+1)
				}
			}
		}
	}
}

func (s *shape) absent(repetition, definition int16) {
	for _, leaf := range s.leaves() {
		leaf.definition, leaf.repetition = append(leaf.definition, definition), append(leaf.repetition, repetition)
	}
}

// take returns the values of a leaf as a slice, and forgets them.
func take[T any](s *shape, convert func(any) T) (values []T, definition, repetition []int16) {
	for _, v := range s.values {
		values = append(values, convert(v))
	}
	definition, repetition = s.definition, s.repetition
	s.values, s.definition, s.repetition = nil, nil, nil
	return values, definition, repetition
}

func as[T any](v any) T { return v.(T) }

// write writes a column chunk.
func (s *shape) write(t require.TestingT, to file.ColumnChunkWriter) {
	var err error
	switch to := to.(type) {
	case *file.Int32ColumnChunkWriter:
		_, err = to.WriteBatch(take(s, as[int32]))
	case *file.Int64ColumnChunkWriter:
		_, err = to.WriteBatch(take(s, as[int64]))
	case *file.Float32ColumnChunkWriter:
		_, err = to.WriteBatch(take(s, as[float32]))
	case *file.Float64ColumnChunkWriter:
		_, err = to.WriteBatch(take(s, as[float64]))
	case *file.Int96ColumnChunkWriter:
		_, err = to.WriteBatch(take(s, func(v any) parquet.Int96 { return stored96(v.(time.Time)) }))
	case *file.ByteArrayColumnChunkWriter:
		_, err = to.WriteBatch(take(s, func(v any) parquet.ByteArray { return v.([]byte) }))
	default:
		require.Fail(t, fmt.Sprintf("%T", to))
	}
	require.NoError(t, err)
	require.NoError(t, to.Close())
}

// otherFile is a file with its columns and their values.
type otherFile struct {
	data    []byte
	columns []*shape
	rows    [][]any
}

// drawOtherFile draws a file with types that arrow-go does not write, or does not read: lists of two levels,
// timestamps of 96 bits in lists, bytes apart, optional keys and unknown types.
func drawOtherFile(t *rapid.T) (made otherFile) {
	var fields schema.FieldList
	for i := range rapid.IntRange(1, 4).Draw(t, "columns") {
		column := drawShape(t, fmt.Sprint("c", i), 3)
		made.columns, fields = append(made.columns, column), append(fields, column.node(t, parquet.Repetitions.Undefined))
	}
	root, err := schema.NewGroupNode("schema", parquet.Repetitions.Required, fields, -1)
	require.NoError(t, err)
	plain := rapid.Bool().Draw(t, "bytes apart")
	properties := []parquet.WriterProperty{parquet.WithStats(false), parquet.WithDictionaryDefault(!plain && rapid.Bool().Draw(t, "dictionary")),
		parquet.WithDataPageSize(rapid.SampledFrom([]int64{50, 1000, 1 << 20}).Draw(t, "length of a page")), parquet.WithBatchSize(100)} // arrow-go never ends if a row has more values
	if !plain {
		properties = append(properties, parquet.WithDataPageVersion(rapid.SampledFrom([]parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2}).Draw(t, "version of pages")),
			parquet.WithCompression(rapid.SampledFrom([]compress.Compression{compress.Codecs.Uncompressed, compress.Codecs.Snappy, compress.Codecs.Zstd}).Draw(t, "codec")))
	}
	var to bytes.Buffer
	w := file.NewParquetWriter(&to, root, file.WithWriterProps(parquet.NewWriterProperties(properties...)))
	random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	for range rapid.IntRange(1, 3).Draw(t, "row groups") {
		for range rapid.SampledFrom([]int{1, 9, 200}).Draw(t, "rows") {
			row := make([]any, len(made.columns))
			for i, column := range made.columns {
				row[i] = column.value(random)
				column.shred(row[i], 0, 0, 0)
			}
			made.rows = append(made.rows, row)
		}
		group := w.AppendRowGroup()
		for _, column := range made.columns {
			for _, leaf := range column.leaves() {
				chunk, err := group.NextColumn()
				require.NoError(t, err)
				leaf.write(t, chunk)
			}
		}
		require.NoError(t, group.Close())
	}
	require.NoError(t, w.Close())
	made.data = to.Bytes()
	if plain {
		made.data = withSplitBytes(t, made.data)
	}
	made.data = withUnknownTypes(made.data)
	return made
}

// withSplitBytes stores the bytes of floats apart, in a file of plain pages of version 1.
func withSplitBytes(t require.TestingT, data []byte) []byte {
	return withFooter(t, data, func(m *metadata.FileMetaData) {
		for _, group := range m.RowGroups {
			for leaf, chunk := range group.Columns {
				column, width := m.Schema.Column(leaf), 4
				switch column.PhysicalType() {
				case parquet.Types.Double:
					width = 8
				case parquet.Types.Float:
				default:
					continue
				}
				at := int(chunk.MetaData.DataPageOffset)
				for end := at + int(chunk.MetaData.TotalCompressedSize); at < end; {
					header, err := pages.Read(data[at:])
					require.NoError(t, err)
					require.Equal(t, pages.Plain, header.Encoding)
					const number, byteStreamSplit = 0x15, 2 * pages.ByteStreamSplit
					values := append(binary.AppendVarint([]byte{number}, header.Values), number)
					place := bytes.Index(data[at:at+header.Length], append(values, 0, number))
					require.Positive(t, place)
					data[at+place+len(values)] = byteStreamSplit
					body := data[at+header.Length:][:header.Compressed]
					for _, level := range []int16{column.MaxRepetitionLevel(), column.MaxDefinitionLevel()} {
						if level > 0 {
							body = body[4+binary.LittleEndian.Uint32(body):]
						}
					}
					split := make([]byte, len(body))
					for i, b := range body {
						split[i%width*(len(body)/width)+i/width] = b
					}
					copy(body, split)
					at += header.Length + header.Compressed
				}
				chunk.MetaData.Encodings = append(chunk.MetaData.Encodings, pages.ByteStreamSplit)
			}
		}
	})
}

// withUnknownTypes makes JSON the logical type 17 in the footer of a file without statistics.
func withUnknownTypes(data []byte) []byte {
	const tail = 8
	begin := len(data) - tail - int(binary.LittleEndian.Uint32(data[len(data)-tail:]))
	footer := bytes.ReplaceAll(data[begin:len(data)-tail], []byte{0xcc, 0, 0, 0}, []byte{0x0c, 2 * 17, 0, 0, 0})
	changed := append(bytes.Clone(data[:begin]), footer...)
	return append(binary.LittleEndian.AppendUint32(changed, uint32(len(footer))), "PAR1"...)
}

// TestRandomFilesOfOthers compares the rows that are read with those that were written.
func TestRandomFilesOfOthers(t *testing.T) {
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	property.Check(t, func(r *rapid.T) {
		f := drawOtherFile(r)
		s, err := source.ParquetReaderAt("data", bytes.NewReader(f.data), int64(len(f.data)))
		require.NoError(r, err)
		batch := rapid.SampledFrom([]int64{0, 7}).Draw(r, "rows of a table")
		for i, column := range f.columns {
			request := source.Request{Columns: []string{column.name}, BatchRows: batch}
			if column.refused() {
				_, err := s.Open(t.Context(), m, request)
				require.ErrorIs(r, err, source.ErrUnsupported)
				continue
			}
			at := 0
			for _, record := range read(t, s, m, request) {
				for row := range int(record.NumRows()) {
					want, err := json.Marshal(shown(f.rows[at][i]))
					require.NoError(r, err)
					got, err := json.Marshal(record.Column(0).GetOneForMarshal(row))
					require.NoError(r, err)
					require.JSONEq(r, string(want), string(got), "column %s of %v, row %d", column.name, record.Schema().Field(0).Type, at)
					at++
				}
				record.Release()
			}
			require.Equal(r, len(f.rows), at)
		}
	})
}
