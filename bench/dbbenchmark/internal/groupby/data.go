// Package groupby has the data and the questions of db-benchmark's task groupby, for
// bench/dbbenchmark and its module with DuckDB.
package groupby

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/gpuframe/gpuframe/bench/dbbenchmark/internal/columns"
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

// ids is the number of id columns, the first ones.
const ids = 6

// Generate makes the table. The caller releases it.
func (d Data) Generate() arrow.Record {
	drawn := make([][]int32, ids)
	var group sync.WaitGroup
	for i := range drawn {
		group.Go(func() { drawn[i] = d.drawIDs(i) })
	}
	group.Wait()
	if d.Sorted {
		sortRows(drawn)
	}
	arrays := make([]arrow.Array, Schema.NumFields())
	for i, values := range drawn {
		group.Go(func() {
			switch {
			case i >= 3:
				arrays[i] = columns.Numbers(values, columns.IsZero)
			case i == 2:
				arrays[i] = columns.Texts(values, columns.IsZero, 10)
			default:
				arrays[i] = columns.Texts(values, columns.IsZero, 3)
			}
		})
	}
	group.Go(func() { arrays[ids] = columns.Integers(d.random(ids), d.Rows, 5, d.Nulls) })
	group.Go(func() { arrays[ids+1] = columns.Integers(d.random(ids+1), d.Rows, 15, d.Nulls) })
	group.Go(func() { arrays[ids+2] = columns.Floats(d.random(ids+2), d.Rows, d.Nulls) })
	group.Wait()
	record := array.NewRecord(Schema, arrays, int64(d.Rows))
	for _, c := range arrays {
		c.Release()
	}
	return record
}

// random returns the generator of a column.
func (d Data) random(column int) *rand.Rand {
	return rand.New(rand.NewPCG(d.Seed, uint64(108+column)))
}

// drawIDs draws the ids of a column. Zero stands for null.
func (d Data) drawIDs(column int) []int32 {
	r, distinct := d.random(column), d.K
	if column%3 == 2 { // id3 and id6
		distinct = max(d.Rows/d.K, 1)
	}
	nulls := make([]bool, 1+distinct)
	for id := range nulls {
		nulls[id] = d.Nulls > 0 && r.IntN(100) < d.Nulls
	}
	drawn := make([]int32, d.Rows)
	for row := range drawn {
		if id := 1 + r.Int32N(int32(distinct)); !nulls[id] {
			drawn[row] = id
		}
	}
	return drawn
}

// sortRows sorts the rows of columns.
func sortRows(table [][]int32) {
	rows := make([][ids]int32, len(table[0]))
	for c, column := range table {
		for row, id := range column {
			rows[row][c] = id
		}
	}
	slices.SortFunc(rows, func(a, b [ids]int32) int { return slices.Compare(a[:], b[:]) })
	for c, column := range table {
		for row := range column {
			column[row] = rows[row][c]
		}
	}
}
