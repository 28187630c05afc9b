package iceberg

import (
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe"
)

// Query is a query on the rows of the snapshot that are not deleted. It may be run many times, also when later snapshots have
// been written, as long as no writer has removed the files (expired snapshots).
func (t *Table) Query(engine *gpuframe.Engine) gpuframe.Query {
	var plain, marked []*file
	for _, f := range t.files {
		if f.marked {
			marked = append(marked, f)
		} else {
			plain = append(plain, f)
		}
	}
	if len(marked) == 0 {
		return t.list(engine, t.columns, plain, nil)
	}
	rest := t.withoutEquality(engine, marked)
	if len(plain) == 0 {
		return rest
	}
	return t.list(engine, t.columns, plain, nil).Union(rest)
}

// list is a query on columns of files, with the further columns of marks.
func (t *Table) list(engine *gpuframe.Engine, columns []column, files []*file, marks *marks) gpuframe.Query {
	fields, origins := fieldsOf(columns)
	if marks != nil {
		fields, origins = append(fields, marks.fields()...), append(origins, gpuframe.ColumnOrigin{}, gpuframe.ColumnOrigin{})
	}
	listed := gpuframe.TableFiles{Name: t.describe(), Schema: arrow.NewSchema(fields, nil), Origins: origins, NeedIDs: t.names == nil,
		Files: make([]gpuframe.TableFile, 0, len(files))}
	for _, f := range files {
		entry := gpuframe.TableFile{Path: f.Path, Rows: f.Rows, Constants: f.Partition, DeletedRows: f.Deleted, Range: t.ranges(f, columns)}
		if marks != nil {
			entry.Constants = marks.constants(f)
		}
		if f.deleted != nil {
			entry.Deleted = f.deleted.Between
		}
		listed.Files = append(listed.Files, entry)
	}
	return t.from.TableFiles(engine, listed)
}

func (t *Table) describe() string {
	if t.snapshot == nil {
		return fmt.Sprintf("iceberg %s without a snapshot", t.name)
	}
	return fmt.Sprintf("iceberg %s snapshot %d", t.name, t.snapshot.ID)
}

// ranges returns the ranges of columns of a file: by its bounds, and by its partition.
func (t *Table) ranges(f *file, columns []column) func(string) gpuframe.ColumnRange {
	return func(name string) gpuframe.ColumnRange {
		index := slices.IndexFunc(columns, func(c column) bool { return c.name == name })
		if index < 0 {
			return unknownRange
		}
		c := columns[index]
		if t.names != nil && len(t.names[c.id]) == 0 {
			return unknownRange // a file without field IDs has other values than the bounds
		}
		r, p := f.entry.File.columnRange(c), partitionRange(f.sources, f.entry.partition, c.id, f.Rows)
		if p.Valid == 0 {
			return p
		}
		r.Low, r.High, r.Has = narrower(r.Low, p.Low, 1), narrower(r.High, p.High, -1), p.Has
		return r
	}
}
