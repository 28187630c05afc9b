package pipelinetest

import (
	"fmt"
	"math/rand/v2"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
)

// usual are types that most operators accept: every table has some of these.
var usual = []arrow.DataType{
	arrow.FixedWidthTypes.Boolean, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Uint64, arrow.PrimitiveTypes.Int8,
	arrow.PrimitiveTypes.Float64, arrow.PrimitiveTypes.Float32, arrow.BinaryTypes.String, &arrow.Decimal128Type{Precision: 30, Scale: 3},
	&arrow.TimestampType{Unit: arrow.Microsecond}, &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int16, ValueType: arrow.BinaryTypes.String},
}

// drawTables draws two tables of one schema: bool "mask", small integers "key", strings
// "word" with few values, and columns of any types.
func drawTables(r *rand.Rand, rows int) []arrow.Record {
	fields := []arrow.Field{
		{Name: "mask", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
		{Name: "key", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
		{Name: "word", Type: arrow.BinaryTypes.String, Nullable: true},
	}
	all := arraytest.AllTypes()
	for i := range 1 + r.IntN(4) {
		t := all[r.IntN(len(all))]
		if r.IntN(2) == 0 {
			t = usual[r.IntN(len(usual))]
		}
		fields = append(fields, arrow.Field{Name: fmt.Sprint("c", i), Type: t, Nullable: true})
	}
	schema := arrow.NewSchema(fields, nil)
	tables := make([]arrow.Record, 2)
	for i := range tables {
		n := r.IntN(rows + 1)
		if r.IntN(6) == 0 {
			n = 0
		}
		g := arraytest.NewGenerator(r.Uint64())
		g.Sliced = r.IntN(2) == 0
		columns := []arrow.Array{nil, drawKeys(r, n), drawWords(r, n)}
		for j := range fields {
			g.Nulls = []arraytest.Nulls{arraytest.SomeNull, arraytest.SomeNull, arraytest.NoneNull, arraytest.AllNull}[r.IntN(4)]
			switch {
			case j == 0:
				g.Nulls = arraytest.Nulls(r.IntN(2))
				columns[0] = g.Array(fields[0].Type, n)
			case j > 2:
				columns = append(columns, g.Array(fields[j].Type, n))
			}
		}
		tables[i] = array.NewRecord(schema, columns, int64(n))
	}
	return tables
}

func drawKeys(r *rand.Rand, n int) arrow.Array {
	b := array.NewInt32Builder(arrowmemory.DefaultAllocator)
	defer b.Release()
	for range n {
		if r.IntN(8) == 0 {
			b.AppendNull()
		} else {
			b.Append(int32(r.IntN(9)) - 4)
		}
	}
	return b.NewArray()
}

// words are the values of strings that repeat.
var words = []string{"", "a", "ab", "gpu", "gpuframe, a columnar layer", "日本"}

func drawWords(r *rand.Rand, n int) arrow.Array {
	b := array.NewStringBuilder(arrowmemory.DefaultAllocator)
	defer b.Release()
	for range n {
		if r.IntN(8) == 0 {
			b.AppendNull()
		} else {
			b.Append(words[r.IntN(len(words))])
		}
	}
	return b.NewArray()
}
