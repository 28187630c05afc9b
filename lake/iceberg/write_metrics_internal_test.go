package iceberg

import (
	"math"
	"math/big"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/pagestest"
)

// boundValue is a value as bounds are compared, or nil.
func boundValue(values arrow.Array, row int) any {
	switch a := values.(type) {
	case *array.Int32:
		return int64(a.Value(row))
	case *array.Int64:
		return a.Value(row)
	case *array.Float64:
		if !math.IsNaN(a.Value(row)) {
			return a.Value(row)
		}
	case *array.Date32:
		return int64(a.Value(row))
	case *array.Timestamp:
		return int64(a.Value(row))
	case *array.Decimal128:
		return a.Value(row).BigInt()
	case *array.String:
		return []byte(a.Value(row))
	case *array.Binary:
		return a.Value(row)
	}
	return nil
}

// Bounds of random columns enclose all values, and counts are those of values and nulls, also of many row groups.
func TestMetricsOfRandomColumns(t *testing.T) {
	engine, err := gpuframe.Open(gpuframe.Device("host"))
	require.NoError(t, err)
	defer func() { require.NoError(t, engine.Close()) }()
	types := []arrow.DataType{
		arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Float64, arrow.FixedWidthTypes.Date32, &arrow.TimestampType{Unit: arrow.Microsecond},
		&arrow.Decimal128Type{Precision: 9, Scale: 2}, &arrow.Decimal128Type{Precision: 18, Scale: 2}, &arrow.Decimal128Type{Precision: 38, Scale: 2}, arrow.BinaryTypes.String, arrow.BinaryTypes.Binary,
	}
	for seed := range uint64(12) {
		generator := arraytest.NewGenerator(seed)
		const rows = 300
		var fields []arrow.Field
		var columns []arrow.Array
		for i, dataType := range types {
			generator.Nulls = []arraytest.Nulls{arraytest.NoneNull, arraytest.SomeNull, arraytest.AllNull}[(int(seed)+i)%3]
			columns = append(columns, pagestest.Fitting(generator.Array(dataType, rows)))
			fields = append(fields, arrow.Field{Name: dataType.String(), Type: dataType, Nullable: true})
		}
		schema := arrow.NewSchema(fields, nil)
		path := filepath.Join(t.TempDir(), "t")
		w, err := Create(t.Context(), path, schema, WriteOptions{Parquet: gpuframe.ParquetOptions{GroupRows: 100}})
		require.NoError(t, err)
		_, err = w.Append(t.Context(), engine.Records(schema, array.NewRecord(schema, columns, rows)))
		require.NoError(t, err)
		table, err := Open(t.Context(), path, Options{})
		require.NoError(t, err)
		require.Len(t, table.files, 1)
		f := &table.files[0].entry.File
		require.EqualValues(t, rows, f.Rows)
		for i, c := range table.columns {
			about := c.t.String()
			values, _ := countOf(f.Values, c.id)
			nulls, ok := countOf(f.Nulls, c.id)
			require.True(t, ok, about)
			require.Equal(t, []int64{rows, int64(columns[i].NullN())}, []int64{values, nulls}, about)
			low, high := boundIn(f.Lower, c), boundIn(f.Upper, c)
			if _, number := c.t.(*arrow.Int64Type); number && nulls < rows {
				require.NotNil(t, low)
			}
			for row := range rows {
				value := boundValue(columns[i], row)
				if columns[i].IsNull(row) || value == nil {
					continue
				}
				if low != nil {
					require.LessOrEqual(t, compareBounds(low, value), 0, "%s row %d: %v below %v", about, row, value, low)
				}
				if high != nil {
					require.GreaterOrEqual(t, compareBounds(high, value), 0, "%s row %d: %v above %v", about, row, value, high)
				}
			}
		}
	}
}

// No file has bounds of floats, and of lists. Those of texts are in files with lists, too.
func TestColumnsWithoutBounds(t *testing.T) {
	engine, err := gpuframe.Open(gpuframe.Device("host"))
	require.NoError(t, err)
	defer func() { require.NoError(t, engine.Close()) }()
	type row struct {
		N    int64   `gpuframe:"n"`
		F    float64 `gpuframe:"f"`
		Text string  `gpuframe:"text"`
		List []int64 `gpuframe:"list"`
	}
	rows := gpuframe.From(engine, []row{{1, math.NaN(), "", nil}, {2, 3, "b", []int64{1}}, {3, 4, strings.Repeat("z", 5000), nil}})
	for _, columns := range [][]string{{"n", "f", "text"}, {"n", "f", "text", "list"}} {
		var list []gpuframe.Expression
		for _, name := range columns {
			list = append(list, gpuframe.Col(name))
		}
		query := rows.Select(list)
		schema, err := query.Schema(t.Context())
		require.NoError(t, err)
		path := filepath.Join(t.TempDir(), "t")
		w, err := Create(t.Context(), path, schema, WriteOptions{})
		require.NoError(t, err)
		_, err = w.Append(t.Context(), query)
		require.NoError(t, err)
		table, err := Open(t.Context(), path, Options{})
		require.NoError(t, err)
		file := &table.files[0].entry.File
		bounded := map[string]bool{}
		for _, c := range table.columns {
			bounded[c.name] = boundIn(file.Lower, c) != nil || boundIn(file.Upper, c) != nil
		}
		require.Equal(t, map[bool]map[string]bool{
			false: {"n": true, "f": false, "text": true}, true: {"n": true, "f": false, "text": true, "list": false},
		}[len(columns) == 4], bounded)
		for text, n := range map[string]int{"": 1, "b": 1, "zz": 1} {
			q := table.Query(engine)
			condition := gpuframe.Col("text").Eq(text)
			if text == "zz" {
				condition = gpuframe.Col("text").Gt(text)
			}
			frame, err := q.Filter(condition).Collect(t.Context())
			require.NoError(t, err)
			require.EqualValues(t, n, frame.NumRows(), text)
			require.NoError(t, frame.Release())
		}
	}
}

// Shortened bounds enclose the texts, are short, and are texts.
func TestShortBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom([]rune{'a', 'z', 0, 0xD7FF, utf8.MaxRune, 'é'}), 0, 40, -1).Draw(t, "text")
		low, high := lowerText([]byte(text)), upperText([]byte(text))
		require.LessOrEqual(t, string(low), text)
		require.LessOrEqual(t, utf8.RuneCount(low), boundLength)
		if high == nil {
			require.Equal(t, strings.Repeat(string(utf8.MaxRune), boundLength), text[:prefixOf([]byte(text))])
			return
		}
		require.GreaterOrEqual(t, string(high), text)
		require.True(t, utf8.Valid(high))
		require.LessOrEqual(t, utf8.RuneCount(high), boundLength)
	})
	require.Nil(t, lowerText([]byte("\xff")))
	require.Nil(t, upperText([]byte("\xff")))
	require.Equal(t, []byte{1}, upperBytes(append([]byte{0}, []byte(strings.Repeat("\xff", 20))...)))
	require.Nil(t, upperBytes([]byte(strings.Repeat("\xff", 20))))
}

// Decimals are the shortest two's complement, which the reader decodes.
func TestSignedBytes(t *testing.T) {
	for number, want := range map[int64][]byte{0: {0}, 1: {1}, -1: {0xff}, 127: {0x7f}, 128: {0, 0x80}, -128: {0x80}, -129: {0xff, 0x7f}, 32768: {0, 0x80, 0}} {
		require.Equal(t, want, signedBytes(big.NewInt(number)), number)
		require.Zero(t, unscaledOf(want).Cmp(big.NewInt(number)))
	}
}

// The schema that Create gives IDs is read as the same columns.
func TestCreatedSchemas(t *testing.T) {
	inner := arrow.StructOf(arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int64, Nullable: true})
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "m", Type: arrow.MapOf(arrow.BinaryTypes.String, arrow.ListOf(inner)), Nullable: true}, {Name: "b", Type: arrow.FixedWidthTypes.Boolean},
	}, nil)
	data, err := newTableMetadata("/t", newUUID(), 1, schema, []string{"b"})
	require.NoError(t, err)
	s, err := newState((&folder{}).from, "v1.metadata.json", data)
	require.NoError(t, err)
	require.Equal(t, []int{2}, s.required)
	fields, origins := fieldsOf(s.columns)
	require.True(t, arrow.TypeEqual(schema.Field(0).Type, fields[0].Type))
	require.Equal(t, []gpuframe.FieldID{{ID: 1, Members: []gpuframe.FieldID{{ID: 3}, {ID: 4, Members: []gpuframe.FieldID{{ID: 5, Members: []gpuframe.FieldID{{ID: 6}}}}}}}, {ID: 2}}, fieldIDs(origins))
}
