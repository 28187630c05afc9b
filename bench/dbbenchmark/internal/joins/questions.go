package joins

import (
	"context"
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/kernels/join"
	"github.com/gpuframe/gpuframe/memory"
)

// Question is one of the benchmark: the table x joined with another one.
type Question struct {
	Name, Text string
	// Right is the other table, Key the column that both have, Columns the columns of the
	// other table that the answer has.
	Right, Key string
	Columns    []string
	Kind       join.Kind
}

// Questions are those of the benchmark.
var Questions = []Question{
	{Name: "q1", Text: "small inner on int", Right: "small", Key: "id1", Columns: []string{"id4", "v2"}},
	{Name: "q2", Text: "medium inner on int", Right: "medium", Key: "id2", Columns: []string{"id1", "id4", "id5", "v2"}},
	{Name: "q3", Text: "medium outer on int", Right: "medium", Key: "id2", Columns: []string{"id1", "id4", "id5", "v2"}, Kind: join.Left},
	{Name: "q4", Text: "medium inner on factor", Right: "medium", Key: "id5", Columns: []string{"id1", "id2", "id4", "v2"}},
	{Name: "q5", Text: "big inner on int", Right: "big", Key: "id3", Columns: []string{"id1", "id2", "id4", "id5", "id6", "v2"}},
}

// SQL is the question to DuckDB, as in its entry of the benchmark.
func (q Question) SQL() string {
	text, kind := "select x.*", "join"
	for _, name := range q.Columns {
		text += fmt.Sprintf(", %s.%s as %s", q.Right, name, q.resultName(name))
	}
	if q.Kind == join.Left {
		kind = "left join"
	}
	return fmt.Sprintf("%s from x %s %s using (%s)", text, kind, q.Right, q.Key)
}

// resultName is the name of a column of the other table in the answer.
func (q Question) resultName(name string) string {
	if name == "v2" {
		return name
	}
	return name + "_right"
}

// Answer computes the answer. Its rows are in the order of x. The caller releases it.
func (q Question) Answer(ctx context.Context, tables Loaded) (*buffer.Buffer, error) {
	return join.Tables(ctx, tables["x"], tables[q.Right], join.Using(q.Key), join.Options{Kind: q.Kind, RightColumns: q.Columns})
}

// Loaded are tables in the memory of a device.
type Loaded map[string]*buffer.Buffer

// Load copies all tables. The caller releases the result.
func (t Tables) Load(mgr *memory.Manager) (Loaded, error) {
	loaded := Loaded{}
	for name, record := range t {
		table, err := buffer.FromRecord(mgr, record)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", name, err), loaded.Release())
		}
		loaded[name] = table
	}
	return loaded, nil
}

// Release releases all tables.
func (l Loaded) Release() error {
	var failures []error
	for _, table := range l {
		failures = append(failures, table.Release())
	}
	return errors.Join(failures...)
}
