package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/gpuframe/gpuframe/bench/dbbenchmark/internal/groupby"
	fastest "github.com/gpuframe/gpuframe/bench/dbbenchmark/internal/measure"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/kernels/order"
	"github.com/gpuframe/gpuframe/memory"
)

// sorting is a sort of the table of the questions by some keys.
type sorting struct {
	name, text string
	// columns are those of the answer; all if empty.
	columns []string
	keys    []order.Key
}

var sorts = []sorting{
	{name: "s1", text: "all by id6", keys: []order.Key{{Column: "id6"}}},
	{name: "s2", text: "v3 descending, alone", columns: []string{"v3"}, keys: []order.Key{{Column: "v3", Descending: true}}},
	{name: "s3", text: "all by id1, id4, v3", keys: []order.Key{{Column: "id1"}, {Column: "id4"}, {Column: "v3"}}},
	{name: "s4", text: "all by id3", keys: []order.Key{{Column: "id3"}}},
}

// sql is the sort as DuckDB does it. Nulls come last on both sides.
func (s sorting) sql() string {
	columns, keys := "*", make([]string, len(s.keys))
	if len(s.columns) > 0 {
		columns = strings.Join(s.columns, ", ")
	}
	for i, key := range s.keys {
		if keys[i] = key.Column; key.Descending {
			keys[i] += " desc"
		}
	}
	return fmt.Sprintf("select %s from x order by %s", columns, strings.Join(keys, ", "))
}

// sortings compares the sorts.
func sortings(ctx context.Context, mgr *memory.Manager, p *peer, d groupby.Data, rounds int) error {
	return withTable(ctx, mgr, p, d, func(x *buffer.Buffer) error {
		var failures []error
		for _, s := range sorts {
			failures = append(failures, compareSorts(ctx, s, x, mgr, p, rounds))
		}
		return errors.Join(failures...)
	})
}

// compareSorts prints a line for a sort.
func compareSorts(ctx context.Context, s sorting, x *buffer.Buffer, mgr *memory.Manager, p *peer, rounds int) (err error) {
	if err := x.Retain(); err != nil {
		return err
	}
	table := x
	if len(s.columns) > 0 {
		selected, err := x.Select(s.columns...)
		if err = errors.Join(err, x.Release()); err != nil {
			return err
		}
		table = selected
	}
	defer func() { err = errors.Join(err, table.Release()) }()
	answer := func() (*buffer.Buffer, error) { return order.Sort(ctx, table, s.keys) }
	ours, rows, err := fastest.Fastest(ctx, mgr, rounds, answer)
	if err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	theirs, err := p.measure(s.sql(), rounds)
	if err != nil {
		return fmt.Errorf("%s: DuckDB: %w", s.name, err)
	}
	verdict := "equal"
	sorted, err := answer()
	if err == nil {
		err = errors.Join(compareOrder(ctx, s, sorted, p), sorted.Release())
	}
	if err != nil {
		verdict, err = "DIFFERENT", fmt.Errorf("%s: %w", s.name, err)
	}
	fmt.Printf("%-4s %-28s %10.3f ms %10.3f ms %8.2f × %10d rows, %s\n", s.name, s.text, milliseconds(ours), milliseconds(theirs), ratio(theirs, ours), rows, verdict)
	return err
}

// period makes the sums of the checks depend on the places of the keys.
const period = 1009

// compareOrder compares the keys at each place by sums: the number of a key is multiplied by
// the place modulo the period. Another sum, of products of keys and v1, shows whether rows are
// whole. Rows with equal keys have any order in DuckDB.
func compareOrder(ctx context.Context, s sorting, sorted *buffer.Buffer, p *peer) error {
	for _, key := range s.keys {
		names := []string{key.Column}
		if len(s.columns) == 0 {
			names = append(names, "v1")
		}
		ours, err := checkOrder(ctx, sorted, names)
		if err != nil {
			return err
		}
		number := fmt.Sprintf("coalesce(cast(replace(cast(%s as varchar), 'id', '') as double), -1)", key.Column)
		other := "1"
		if len(names) > 1 {
			other = "coalesce(v1, -1)"
		}
		theirs, err := p.answer(fmt.Sprintf("select count(*), sum(%s * (rowid %% %d)), sum(%s * %s) from answer", number, period, number, other), 0)
		if err != nil {
			return err
		}
		for i, sum := range ours {
			if !same(sum, theirs[""][i]) {
				return fmt.Errorf("key %q: check %d is %v, and %v in DuckDB", key.Column, i, sum, theirs[""][i])
			}
		}
	}
	return nil
}

// checkOrder returns the number of rows and both sums of the first column.
func checkOrder(ctx context.Context, sorted *buffer.Buffer, names []string) (sums [3]float64, err error) {
	selected, err := sorted.Select(names...)
	if err != nil {
		return sums, err
	}
	record, err := selected.Record(ctx)
	if err = errors.Join(err, selected.Release()); err != nil {
		return sums, err
	}
	defer record.Release()
	for row := range int(record.NumRows()) {
		key, err := keyNumber(record.Column(0), row)
		if err != nil {
			return sums, err
		}
		other := 1.0
		if len(names) > 1 {
			if other, err = keyNumber(record.Column(1), row); err != nil {
				return sums, err
			}
		}
		sums[1] += key * float64(row%period)
		sums[2] += key * other
	}
	sums[0] = float64(record.NumRows())
	return sums, nil
}

// keyNumber returns a number for a key: that of "id042" is 42, that of null −1.
func keyNumber(c arrow.Array, row int) (float64, error) {
	if c.IsNull(row) {
		return -1, nil
	}
	switch c := c.(type) {
	case *array.Int32:
		return float64(c.Value(row)), nil
	case *array.Float64:
		return c.Value(row), nil
	case *array.String:
		return strconv.ParseFloat(strings.TrimPrefix(c.Value(row), "id"), 64)
	}
	return 0, fmt.Errorf("a key of type %v, expected int32, float64 or string", c.DataType())
}
