package iceberg

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/scalar"

	"github.com/gpuframe/gpuframe"
)

// equality is equality deletes by the same columns: a row is deleted if a file with deletes has one with the same values, is of a
// later snapshot, and of the same partition or of none.
type equality struct {
	keys []column
	// global means that the deletes apply to all partitions.
	global bool
	files  []*file
}

// addEquality groups equality deletes, and marks the files of data that they may apply to. Those that apply to no file are left out.
func (t *Table) addEquality(deletes []*entry) error {
	latest, overall := map[string]int64{}, int64(-1)
	sets := map[string]*equality{}
	data := t.oldest()
	for _, e := range deletes {
		if e.File.Content != equalityContent {
			continue
		}
		global, applies, err := t.applies(data, e)
		if err == nil && applies {
			err = t.addDeletes(sets, e, global)
		}
		if err != nil {
			return inFile(e.File.Path, err)
		}
		if global {
			overall = max(overall, e.sequence)
		} else {
			latest[e.partition.key] = max(latest[e.partition.key], e.sequence)
		}
	}
	for _, f := range t.files {
		if f.marked = f.entry.sequence < max(overall, latest[f.entry.partition.key]); f.marked {
			if err := t.addHidden(f); err != nil {
				return inFile(f.Path, err)
			}
		}
	}
	return nil
}

// addHidden adds what the partition of a file has of the hidden columns.
func (t *Table) addHidden(f *file) (err error) {
	spec, _ := t.metadata.spec(f.entry.spec)
	hidden := sources(spec, t.hidden)
	f.sources = append(f.sources, hidden...)
	f.hidden, err = constants(hidden, f.entry.partition)
	return err
}

// oldest are the smallest sequence numbers of files of data.
type oldest struct {
	overall     int64
	byPartition map[string]int64
}

func (t *Table) oldest() oldest {
	o := oldest{math.MaxInt64, map[string]int64{}}
	for _, f := range t.files {
		e := f.entry
		o.overall = min(o.overall, e.sequence)
		if least, ok := o.byPartition[e.partition.key]; !ok || e.sequence < least {
			o.byPartition[e.partition.key] = e.sequence
		}
	}
	return o
}

// applies reports whether equality deletes apply to all partitions, and whether they may apply to the rows of a file.
func (t *Table) applies(data oldest, e *entry) (global, applies bool, err error) {
	spec, ok := t.metadata.spec(e.spec)
	if !ok {
		return false, false, fmt.Errorf("its partition spec %d is absent: %w", e.spec, ErrMetadata)
	}
	if unpartitioned(spec) {
		return true, data.overall < e.sequence, nil
	}
	least, ok := data.byPartition[e.partition.key]
	return false, ok && least < e.sequence, nil
}

// addDeletes adds a file of equality deletes to those of its columns.
func (t *Table) addDeletes(sets map[string]*equality, e *entry, global bool) error {
	ids := slices.Clone(e.File.Equality)
	slices.Sort(ids)
	name := fmt.Sprint(ids, global)
	set := sets[name]
	if set == nil {
		keys, err := t.keys(slices.Compact(ids))
		if err != nil {
			return err
		}
		set = &equality{keys: keys, global: global}
		sets[name] = set
		t.equality = append(t.equality, set)
	}
	f, err := t.newFile(e, set.keys)
	if err == nil {
		set.files = append(set.files, f)
	}
	return err
}

// keys returns columns by their IDs. Those that the schema lacks are added to the hidden ones.
func (t *Table) keys(ids []int32) (keys []column, err error) {
	if len(ids) == 0 {
		return nil, fmt.Errorf("the manifest has no columns of its equality deletes: %w", ErrMetadata)
	}
	for _, id := range ids {
		same := func(c column) bool { return c.id == int(id) }
		index := slices.IndexFunc(t.columns, same)
		if index >= 0 {
			keys = append(keys, t.columns[index])
			continue
		}
		if index = slices.IndexFunc(t.hidden, same); index < 0 {
			c, err := t.dropped(int(id))
			if err != nil {
				return nil, err
			}
			t.hidden, index = append(t.hidden, c), len(t.hidden)
		}
		keys = append(keys, t.hidden[index])
	}
	for i, key := range keys {
		keys[i].origin.Absent = fmt.Errorf("equality deletes by the column: %w", ErrDeletes)
		if !joinable(key.t) {
			return nil, fmt.Errorf("equality deletes by the column %q of %v: %w", key.name, key.t, ErrUnsupported)
		}
	}
	return keys, nil
}

// dropped returns a column of the newest schema that has it, by a name that the table does not have.
func (t *Table) dropped(id int) (column, error) {
	for _, s := range slices.Backward(t.metadata.Schemas) {
		columns, err := columnsOf(s, t.names)
		if err != nil {
			continue // another schema may have it
		}
		for _, c := range columns {
			if c.id == id {
				c.name = t.unused(fmt.Sprintf("deleted %d", id))
				return c, nil
			}
		}
	}
	return column{}, fmt.Errorf("equality deletes by the field %d, which is no column of the table: %w", id, ErrUnsupported)
}

// unused returns a name that no column has.
func (t *Table) unused(name string) string {
	for t.schema.HasField(name) {
		name = "_" + name
	}
	return name
}

// joinable reports whether values are equal to gpuframe if they are to Iceberg, for which -0 is not 0.
func joinable(t arrow.DataType) bool {
	switch t.ID() {
	case arrow.BOOL, arrow.INT32, arrow.INT64, arrow.DATE32, arrow.TIME64, arrow.TIMESTAMP, arrow.STRING, arrow.BINARY, arrow.DECIMAL128:
		return true
	}
	return false
}

// marks are columns of the sequence numbers and the partitions of files.
type marks struct {
	sequence, partition string
	// numbers are those of partitions, by their keys.
	numbers map[string]int64
}

func (t *Table) newMarks() *marks {
	return &marks{sequence: t.unused("sequence"), partition: t.unused("partition"), numbers: map[string]int64{}}
}

func (m *marks) fields() []arrow.Field {
	return []arrow.Field{{Name: m.sequence, Type: arrow.PrimitiveTypes.Int64}, {Name: m.partition, Type: arrow.PrimitiveTypes.Int64}}
}

// constants returns those of a file, with its marks.
func (m *marks) constants(f *file) map[string]scalar.Scalar {
	number, ok := m.numbers[f.entry.partition.key]
	if !ok {
		number = int64(len(m.numbers))
		m.numbers[f.entry.partition.key] = number
	}
	values := map[string]scalar.Scalar{m.sequence: scalar.NewInt64Scalar(f.entry.sequence), m.partition: scalar.NewInt64Scalar(number)}
	maps.Copy(values, f.Partition)
	maps.Copy(values, f.hidden)
	return values
}

// withoutEquality is a query on the rows of files that equality deletes leave. For each set of columns one join finds the last
// delete with the values of a row.
func (t *Table) withoutEquality(engine *gpuframe.Engine, files []*file) gpuframe.Query {
	m := t.newMarks()
	columns := slices.Concat(t.columns, t.hidden)
	query := t.list(engine, columns, files, m)
	for _, set := range t.equality {
		var keys []gpuframe.Expression
		terms := []gpuframe.JoinTerm{gpuframe.NullsMatch()}
		for _, key := range set.keys {
			keys, terms = append(keys, gpuframe.Col(key.name)), append(terms, gpuframe.Col(key.name))
		}
		if !set.global {
			keys, terms = append(keys, gpuframe.Col(m.partition)), append(terms, gpuframe.Col(m.partition))
		}
		last := t.unused("last " + m.sequence)
		deletes := t.list(engine, set.keys, set.files, m).GroupBy(keys).Agg(gpuframe.Col(m.sequence).Max().As(last))
		query = query.Join(deletes, gpuframe.Left, terms...).
			Filter(gpuframe.Col(last).IsNull().Or(gpuframe.Col(last).Le(gpuframe.Col(m.sequence)))).Drop(last)
	}
	dropped := []string{m.sequence, m.partition}
	for _, c := range t.hidden {
		dropped = append(dropped, c.name)
	}
	return query.Drop(dropped...)
}
