package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
)

// data describes a table: G1_{rows}_{k}_{nulls}_{sorted} of the benchmark.
type data struct {
	rows, k int
	// nulls is the percentage of nulls among the distinct ids, and among the values.
	nulls  int
	sorted bool
	seed   uint64
}

// schema is that of the benchmark's table x.
var schema = arrow.NewSchema([]arrow.Field{
	{Name: "id1", Type: arrow.BinaryTypes.String, Nullable: true},
	{Name: "id2", Type: arrow.BinaryTypes.String, Nullable: true},
	{Name: "id3", Type: arrow.BinaryTypes.String, Nullable: true},
	{Name: "id4", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
	{Name: "id5", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
	{Name: "id6", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
	{Name: "v1", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
	{Name: "v2", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
	{Name: "v3", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
}, nil)

const ids = 6

// missing is the id of a null.
const missing = 0

// row is the ids of a row.
type row [ids]int32

// generate makes the table. The caller releases it.
func (d data) generate() arrow.Record {
	r := rand.New(rand.NewPCG(d.seed, 108))
	rows := make([]row, d.rows)
	for i := range ids {
		distinct := d.k
		if i%3 == 2 { // id3 and id6
			distinct = max(d.rows/d.k, 1)
		}
		nulls := d.nullIDs(r, distinct)
		for j := range rows {
			id := 1 + r.Int32N(int32(distinct))
			if nulls[id] {
				id = missing
			}
			rows[j][i] = id
		}
	}
	if d.sorted {
		slices.SortFunc(rows, func(a, b row) int { return slices.Compare(a[:], b[:]) })
	}
	builder := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
	defer builder.Release()
	builder.Reserve(d.rows)
	for i := range ids {
		d.appendIDs(builder.Field(i), i, rows)
	}
	d.appendValues(builder, r)
	return builder.NewRecord()
}

// nullIDs draws the ids that are null.
func (d data) nullIDs(r *rand.Rand, distinct int) map[int32]bool {
	nulls := map[int32]bool{}
	for id := range distinct {
		if d.nulls > 0 && r.IntN(100) < d.nulls {
			nulls[int32(1+id)] = true
		}
	}
	return nulls
}

func (d data) appendIDs(to array.Builder, number int, rows []row) {
	if integers, ok := to.(*array.Int32Builder); ok {
		for i := range rows {
			if id := rows[i][number]; id == missing {
				integers.AppendNull()
			} else {
				integers.Append(id)
			}
		}
		return
	}
	strings, digits := to.(*array.StringBuilder), 3
	if number == 2 {
		digits = 10
	}
	text := make([]byte, 0, 16)
	for i := range rows {
		id := rows[i][number]
		if id == missing {
			strings.AppendNull()
			continue
		}
		text = fmt.Appendf(text[:0], "id%0*d", digits, id)
		strings.BinaryBuilder.Append(text)
	}
}

func (d data) appendValues(builder *array.RecordBuilder, r *rand.Rand) {
	isNull := func() bool { return d.nulls > 0 && r.IntN(100) < d.nulls }
	for i, most := range []int32{5, 15} {
		to := builder.Field(ids + i).(*array.Int32Builder)
		for range d.rows {
			if value := 1 + r.Int32N(most); isNull() {
				to.AppendNull()
			} else {
				to.Append(value)
			}
		}
	}
	to := builder.Field(ids + 2).(*array.Float64Builder)
	for range d.rows {
		if value := math.Round(r.Float64()*100*1e6) / 1e6; isNull() {
			to.AppendNull()
		} else {
			to.Append(value)
		}
	}
}
