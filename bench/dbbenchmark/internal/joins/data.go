// Package joins has the data and the questions of db-benchmark's task join, for
// bench/dbbenchmark and its module with DuckDB.
package joins

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/gpuframe/gpuframe/bench/dbbenchmark/internal/columns"
)

// Data describes the tables: J1_{rows}_NA_{nulls}_{sorted} of the benchmark.
type Data struct {
	Rows int
	// Nulls is the percentage of nulls among the distinct values of each id column, and
	// among the values.
	Nulls  int
	Sorted bool
	Seed   uint64
}

// String describes the tables.
func (d Data) String() string {
	return fmt.Sprintf("%d rows, %d %% nulls, sorted: %v", d.Rows, d.Nulls, d.Sorted)
}

// Names are the names of the tables.
var Names = []string{"x", "small", "medium", "big"}

// Tables are the tables by their names.
type Tables map[string]arrow.Record

// Release releases all tables.
func (t Tables) Release() {
	for _, record := range t {
		record.Release()
	}
}

// fewest is the fewest rows of small and medium: the benchmark has none below 10⁷ rows.
const fewest = 10

// keys are the values of one key: nine tenths are on both sides.
type keys struct{ left, right []int32 }

// newKeys draws n keys for each side of 1.1 n numbers.
func newKeys(r *rand.Rand, n int) keys {
	all := make([]int32, n+n/10)
	for i := range all {
		all[i] = int32(1 + i)
	}
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	common := n - n/10
	return keys{left: all[:n], right: slices.Concat(all[:common], all[n:])}
}

// sampleAll returns the values in random order: each once, and then random ones.
func sampleAll(r *rand.Rand, values []int32, rows int) []int32 {
	sampled := make([]int32, rows)
	for i := copy(sampled, values); i < rows; i++ {
		sampled[i] = values[r.IntN(len(values))]
	}
	r.Shuffle(rows, func(i, j int) { sampled[i], sampled[j] = sampled[j], sampled[i] })
	return sampled
}

// Generate makes the tables. The caller releases them.
func (d Data) Generate() Tables {
	rows := []int{max(d.Rows/1_000_000, min(fewest, d.Rows)), max(d.Rows/1000, min(fewest, d.Rows)), d.Rows}
	var drawn [3]keys
	var group sync.WaitGroup
	for i := range drawn {
		group.Go(func() { drawn[i] = newKeys(d.random(0, i), rows[i]) })
	}
	group.Wait()
	records := make([]arrow.Record, len(Names))
	for table := range Names {
		group.Go(func() {
			n, ids := d.Rows, 3
			if table > 0 {
				n, ids = rows[table-1], table
			}
			columns := make([][]int32, ids)
			var parts sync.WaitGroup
			for i := range columns {
				parts.Go(func() {
					values := drawn[i].left
					if table > 0 {
						values = drawn[i].right
					}
					columns[i] = sampleAll(d.random(1+table, i), values, n)
				})
			}
			parts.Wait()
			if d.Sorted {
				sortRows(columns)
			}
			records[table] = d.record(table, columns)
		})
	}
	group.Wait()
	tables := Tables{}
	for i, name := range Names {
		tables[name] = records[i]
	}
	return tables
}

// random returns the generator of one column.
func (d Data) random(table, column int) *rand.Rand {
	return rand.New(rand.NewPCG(d.Seed, uint64(108+16*table+column)))
}

// sortRows sorts the rows of columns.
func sortRows(columns [][]int32) {
	rows := make([][3]int32, len(columns[0]))
	for c, column := range columns {
		for row, value := range column {
			rows[row][c] = value
		}
	}
	slices.SortFunc(rows, func(a, b [3]int32) int { return slices.Compare(a[:], b[:]) })
	for c, column := range columns {
		for row := range column {
			column[row] = rows[row][c]
		}
	}
}

// record makes a table: ids, their texts, and a value.
func (d Data) record(table int, ids [][]int32) arrow.Record {
	n, count := len(ids[0]), len(ids)
	arrays, fields := make([]arrow.Array, 2*count+1), make([]arrow.Field, 2*count+1)
	var group sync.WaitGroup
	for i, values := range ids {
		fields[i] = arrow.Field{Name: fmt.Sprint("id", 1+i), Type: arrow.PrimitiveTypes.Int32, Nullable: true}
		fields[count+i] = arrow.Field{Name: fmt.Sprint("id", 4+i), Type: arrow.BinaryTypes.String, Nullable: true}
		group.Go(func() { arrays[i] = columns.Numbers(values, d.nullIDs(table, i, values)) })
		group.Go(func() { arrays[count+i] = columns.Texts(values, d.nullIDs(table, 3+i, values), 0) })
	}
	value := "v2"
	if table == 0 {
		value = "v1"
	}
	fields[2*count] = arrow.Field{Name: value, Type: arrow.PrimitiveTypes.Float64, Nullable: true}
	group.Go(func() { arrays[2*count] = columns.Floats(d.random(1+table, 8), n, d.Nulls) })
	group.Wait()
	record := array.NewRecord(arrow.NewSchema(fields, nil), arrays, int64(n))
	for _, c := range arrays {
		c.Release()
	}
	return record
}

// nullIDs draws which of the distinct values of a column are null; nil means none.
func (d Data) nullIDs(table, column int, values []int32) (isNull func(int32) bool) {
	if d.Nulls == 0 {
		return nil
	}
	r, nulls := d.random(1+table, 9+column), make([]bool, 1+slices.Max(values))
	for i := range nulls {
		nulls[i] = r.IntN(100) < d.Nulls
	}
	return func(value int32) bool { return nulls[value] }
}
