// Package groupby has the data and the questions of db-benchmark's task groupby, for
// bench/dbbenchmark and its module with DuckDB.
package groupby

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
)

// Data describes a table: G1_{rows}_{k}_{nulls}_{sorted} of the benchmark.
type Data struct {
	Rows, K int
	// Nulls is the percentage of nulls among the distinct ids, and among the values.
	Nulls  int
	Sorted bool
	Seed   uint64
}

// Flags adds flags for the fields.
func (d *Data) Flags() {
	flag.IntVar(&d.Rows, "rows", 10_000_000, "rows of the table")
	flag.IntVar(&d.K, "k", 100, "groups of the small keys")
	flag.IntVar(&d.Nulls, "na", 0, "percentage of nulls")
	flag.BoolVar(&d.Sorted, "sorted", false, "sort the rows by id1 to id6")
	flag.Uint64Var(&d.Seed, "seed", 1, "seed of the data")
}

// String describes the table.
func (d Data) String() string {
	return fmt.Sprintf("%d rows, K = %d, %d %% nulls, sorted: %v", d.Rows, d.K, d.Nulls, d.Sorted)
}

// Schema is that of the benchmark's table x.
var Schema = arrow.NewSchema([]arrow.Field{
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

// Generate makes the table. The caller releases it.
func (d Data) Generate() arrow.Record {
	r := rand.New(rand.NewPCG(d.Seed, 108))
	rows := make([]row, d.Rows)
	for i := range ids {
		distinct := d.K
		if i%3 == 2 { // id3 and id6
			distinct = max(d.Rows/d.K, 1)
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
	if d.Sorted {
		slices.SortFunc(rows, func(a, b row) int { return slices.Compare(a[:], b[:]) })
	}
	builder := array.NewRecordBuilder(arrowmemory.DefaultAllocator, Schema)
	defer builder.Release()
	builder.Reserve(d.Rows)
	for i := range ids {
		d.appendIDs(builder.Field(i), i, rows)
	}
	d.appendValues(builder, r)
	return builder.NewRecord()
}

// nullIDs draws the ids that are null.
func (d Data) nullIDs(r *rand.Rand, distinct int) map[int32]bool {
	nulls := map[int32]bool{}
	for id := range distinct {
		if d.Nulls > 0 && r.IntN(100) < d.Nulls {
			nulls[int32(1+id)] = true
		}
	}
	return nulls
}

func (d Data) appendIDs(to array.Builder, number int, rows []row) {
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

func (d Data) appendValues(builder *array.RecordBuilder, r *rand.Rand) {
	isNull := func() bool { return d.Nulls > 0 && r.IntN(100) < d.Nulls }
	for i, most := range []int32{5, 15} {
		to := builder.Field(ids + i).(*array.Int32Builder)
		for range d.Rows {
			if value := 1 + r.Int32N(most); isNull() {
				to.AppendNull()
			} else {
				to.Append(value)
			}
		}
	}
	to := builder.Field(ids + 2).(*array.Float64Builder)
	for range d.Rows {
		if value := math.Round(r.Float64()*100*1e6) / 1e6; isNull() {
			to.AppendNull()
		} else {
			to.Append(value)
		}
	}
}
