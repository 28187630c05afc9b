package render_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/text/render"
)

// record makes a record of columns: name, type, values as JSON.
func record(t testing.TB, columns ...[3]any) arrow.Record {
	t.Helper()
	var fields []arrow.Field
	var arrays []arrow.Array
	rows := 0
	for _, c := range columns {
		values, _, err := array.FromJSON(arrowmemory.DefaultAllocator, c[1].(arrow.DataType), strings.NewReader(c[2].(string)))
		require.NoError(t, err)
		fields = append(fields, arrow.Field{Name: c[0].(string), Type: values.DataType(), Nullable: true})
		arrays = append(arrays, values)
		rows = values.Len()
	}
	return array.NewRecord(arrow.NewSchema(fields, nil), arrays, int64(rows))
}

func whole(r arrow.Record) render.Table {
	return render.Table{Schema: r.Schema(), Rows: r.NumRows(), Head: r}
}

func TestText(t *testing.T) {
	r := record(t,
		[3]any{"city", arrow.BinaryTypes.String, `["Oslo", "東京", null]`},
		[3]any{"price", arrow.PrimitiveTypes.Float64, `[3.5, 1234567.891, 0.001]`},
		[3]any{"n", arrow.PrimitiveTypes.Int64, `[1, -20000, null]`},
		[3]any{"day", arrow.FixedWidthTypes.Date32, `["2024-05-01", "1969-12-31", null]`},
		[3]any{"at", &arrow.TimestampType{Unit: arrow.Millisecond}, `["2024-05-01T12:00:00.5", "2024-05-01", null]`},
		[3]any{"yes", arrow.FixedWidthTypes.Boolean, `[true, false, null]`})
	assert.Equal(t, `shape: (3, 6)
┌──────┬───────────┬────────┬────────────┬───────────────────────┬───────┐
│ city ┆     price ┆      n ┆ day        ┆ at                    ┆ yes   │
│ utf8 ┆   float64 ┆  int64 ┆ date32     ┆ timestamp[ms]         ┆ bool  │
╞══════╪═══════════╪════════╪════════════╪═══════════════════════╪═══════╡
│ Oslo ┆       3.5 ┆      1 ┆ 2024-05-01 ┆ 2024-05-01 12:00:00.5 ┆ true  │
│ 東京 ┆ 1234567.9 ┆ -20000 ┆ 1969-12-31 ┆ 2024-05-01 00:00:00   ┆ false │
│ null ┆     0.001 ┆   null ┆ null       ┆ null                  ┆ null  │
└──────┴───────────┴────────┴────────────┴───────────────────────┴───────┘`, whole(r).Text(0))
	assert.Equal(t, `shape: (3, 6)
┌──────┬───────────┬───┬─────────────┬───────┐
│ city ┆     price ┆ … ┆ at          ┆ yes   │
│ utf8 ┆   float64 ┆   ┆ timestamp[… ┆ bool  │
╞══════╪═══════════╪═══╪═════════════╪═══════╡
│ Oslo ┆       3.5 ┆ … ┆ 2024-05-01… ┆ true  │
│ 東京 ┆ 1234567.9 ┆ … ┆ 2024-05-01… ┆ false │
│ null ┆     0.001 ┆ … ┆ null        ┆ null  │
└──────┴───────────┴───┴─────────────┴───────┘`, whole(r).Text(46))
}

func TestHeadAndTail(t *testing.T) {
	r := record(t, [3]any{"n", arrow.PrimitiveTypes.Int64, `[1, 2, 3]`})
	table := render.Table{Schema: r.Schema(), Rows: 100, Head: r.NewSlice(0, 2), Tail: r.NewSlice(2, 3)}
	assert.Equal(t, `shape: (100, 1)
┌───────┐
│     n │
│ int64 │
╞═══════╡
│     1 │
│     2 │
│     … │
│     3 │
└───────┘`, table.Text(80))
	table.Tail = nil
	assert.Contains(t, table.Text(80), "│     2 │\n│     … │\n└")
	assert.Equal(t, "shape: (7, 0)", render.Table{Schema: arrow.NewSchema(nil, nil), Rows: 7}.Text(80))
	assert.Equal(t, "shape: (0, 1)\n┌───────┐\n│     n │\n│ int64 │\n╞═══════╡\n└───────┘", render.Table{Schema: r.Schema()}.Text(80))
}

// Lines are equally long, at most the width, and show no character that moves the cursor.
func TestLinesFit(t *testing.T) {
	g := arraytest.NewGenerator(3)
	var fields []arrow.Field
	var columns []arrow.Array
	for i, dataType := range arraytest.AllTypes() {
		fields = append(fields, arrow.Field{Name: fmt.Sprint("line\n\x1b[31m", i), Type: dataType, Nullable: true})
		columns = append(columns, g.Array(dataType, 20))
	}
	r := array.NewRecord(arrow.NewSchema(fields, nil), columns, 20)
	for width := range 300 {
		text := whole(r).Text(width)
		assert.NotContains(t, text, "\x1b")
		lines := strings.Split(text, "\n")
		require.Len(t, lines, 1+4+20+1)
		if width >= 60 {
			assert.LessOrEqual(t, len([]rune(lines[1])), width)
		}
		for _, line := range lines[1:4] {
			assert.Equal(t, len([]rune(lines[1])), len([]rune(line)), "width %d: %s", width, line)
		}
	}
	assert.NotContains(t, whole(r).HTML(), "\x1b")
}

func TestFloats(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0.0", 1: "1.0", -2.5: "-2.5", 0.1: "0.1", 1.0 / 3: "0.333333", 123456.789: "123456.8", 1e6: "1000000.0", 999999.5: "999999.5", 0.000123456789: "0.000123457",
		1e-7: "1.0e-07", 1e15: "1.0e+15", 1.23456789e20: "1.23457e+20", math.Inf(-1): "-Inf", 2.0 / 3e5: "6.66667e-06", 1e14: "100000000000000.0", 99999.99999: "100000.0",
	} {
		assert.Equal(t, want, render.Float(v))
	}
	assert.Equal(t, "NaN", render.Float(math.NaN()))
}

func TestValues(t *testing.T) {
	for _, test := range []struct {
		dataType   arrow.DataType
		json, want string
		name       string
	}{
		{arrow.BinaryTypes.String, `["a\tb\n\u202e"]`, `a\tb\n\u202e`, "utf8"},
		{arrow.ListOf(arrow.BinaryTypes.String), `[["a", null, "c", "d"]]`, `["a", null, "c", …]`, "list[utf8]"},
		{arrow.StructOf(arrow.Field{Name: "x", Type: arrow.PrimitiveTypes.Int8, Nullable: true}), `[{"x": 3}]`, `{x: 3}`, "struct[x: int8]"},
		{&arrow.Decimal128Type{Precision: 10, Scale: 2}, `["-12.3"]`, "-12.30", "decimal[10, 2]"},
		{arrow.FixedWidthTypes.Duration_ms, `[90500]`, "1m30.5s", "duration[ms]"},
		{arrow.FixedWidthTypes.Duration_s, `[1000000000000000000]`, "1000000000000000000s", "duration[s]"},
		{arrow.FixedWidthTypes.Time64us, `["12:30:00.25"]`, "12:30:00.250000", "time64[us]"},
		{arrow.BinaryTypes.Binary, `["AP8="]`, "0x00ff", "binary"},
		{&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}, `["x"]`, "x", "dictionary[utf8]"},
		{&arrow.TimestampType{Unit: arrow.Second, TimeZone: "Europe/Oslo"}, `["2024-05-01T00:00:00Z"]`, "2024-05-01 02:00:00", "timestamp[s, Europe/Oslo]"},
		{arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int8), `[[{"key": "a", "value": 3}]]`, `[{key: "a", value: 3}]`, "map[utf8, int8]"},
		{arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Float32), `[[1, 2.5]]`, "[1.0, 2.5]", "list[float32, 2]"},
	} {
		values := record(t, [3]any{"x", test.dataType, test.json}).Column(0)
		assert.Equal(t, test.want, render.Value(values, 0))
		assert.Equal(t, test.name, render.TypeName(test.dataType))
	}
	long := array.NewStringBuilder(arrowmemory.DefaultAllocator)
	long.Append(strings.Repeat("é", 10_000))
	assert.Less(t, len(render.Value(long.NewArray(), 0)), 1000)
}

func TestHTML(t *testing.T) {
	r := record(t, [3]any{"<b>", arrow.BinaryTypes.String, `["<script>", "a&b"]`}, [3]any{"n", arrow.PrimitiveTypes.Int64, `[1, null]`})
	html := whole(r).HTML()
	assert.NotContains(t, html, "<script>")
	assert.Contains(t, html, "&lt;script&gt;")
	assert.Contains(t, html, "shape: (2, 2)")
	assert.Contains(t, html, `text-align: right; white-space: pre">null</td>`)
	assert.Equal(t, 4, strings.Count(html, "<tr>"))
}
