package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/catalog"
	"github.com/apache/iceberg-go/catalog/hadoop"
	"github.com/apache/iceberg-go/table"
)

// writer writes a table. A step that fails sets err, and later ones do nothing.
type writer struct {
	ctx          context.Context
	tables       *hadoop.Catalog
	folder, name string
	table        *table.Table
	err          error
}

func (w *writer) create(schema *iceberg.Schema, spec *iceberg.PartitionSpec, properties iceberg.Properties) {
	options := []catalog.CreateTableOpt{catalog.WithProperties(properties)}
	if spec != nil {
		options = append(options, catalog.WithPartitionSpec(spec))
	}
	w.table, w.err = w.tables.CreateTable(w.ctx, table.Identifier{"go", w.name}, schema, options...)
}

// step runs a step that makes a new snapshot, and notes its rows.
func (w *writer) step(name string, run func() (*table.Table, error)) {
	if w.err != nil {
		return
	}
	next, err := run()
	if err == nil {
		w.table = next
		err = w.note()
	}
	if err != nil {
		w.err = fmt.Errorf("%s: %w", name, err)
	}
}

func (w *writer) append(rows string) {
	w.step("append", func() (*table.Table, error) {
		schema, err := table.SchemaToArrowSchema(w.table.Schema(), nil, false, false)
		if err != nil {
			return nil, err
		}
		record, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader(rows))
		if err != nil {
			return nil, err
		}
		defer record.Release()
		reader, err := array.NewRecordReader(schema, []arrow.RecordBatch{record})
		if err != nil {
			return nil, err
		}
		defer reader.Release()
		return w.table.Append(w.ctx, reader, nil)
	})
}

func (w *writer) delete(filter iceberg.BooleanExpression) {
	w.step("delete", func() (*table.Table, error) { return w.table.Delete(w.ctx, filter, nil) })
}

// deleteEqual adds equality deletes by columns.
func (w *writer) deleteEqual(ids []int, rows string) {
	w.step("delete by equality", func() (*table.Table, error) {
		all, err := table.SchemaToArrowSchema(w.table.Schema(), nil, false, false)
		if err != nil {
			return nil, err
		}
		var fields []arrow.Field
		for _, id := range ids {
			name, _ := w.table.Schema().FindColumnName(id)
			field := all.Field(all.FieldIndices(name)[0])
			field.Nullable = true
			fields = append(fields, field)
		}
		record, _, err := array.RecordFromJSON(memory.DefaultAllocator, arrow.NewSchema(fields, nil), strings.NewReader(rows))
		if err != nil {
			return nil, err
		}
		defer record.Release()
		tx := w.table.NewTransaction()
		if err := tx.CommitEqualityDeletes(w.ctx, ids, func(yield func(arrow.RecordBatch, error) bool) { yield(record, nil) }, nil); err != nil {
			return nil, err
		}
		return tx.Commit(w.ctx)
	})
}

// evolve changes the schema.
func (w *writer) evolve(change func(*table.UpdateSchema)) {
	if w.err != nil {
		return
	}
	tx := w.table.NewTransaction()
	update := tx.UpdateSchema(true, false)
	change(update)
	if w.err = update.Commit(); w.err == nil {
		w.table, w.err = tx.Commit(w.ctx)
	}
}

// openTable opens a table that another program has written.
func openTable(ctx context.Context, folder, name string) (*writer, error) {
	tables, err := hadoop.NewCatalog("test", folder, nil)
	if err != nil {
		return nil, err
	}
	w := &writer{ctx: ctx}
	w.table, err = tables.LoadTable(ctx, table.Identifier{"go", name})
	return w, err
}

// printBounds prints the bounds of the columns in the files of a table.
func printBounds(ctx context.Context, folder, name string) error {
	w, err := openTable(ctx, folder, name)
	if err != nil {
		return err
	}
	tasks, err := w.table.Scan().PlanFiles(ctx)
	if err != nil {
		return err
	}
	for _, task := range tasks {
		for _, field := range w.table.Schema().Fields() {
			var texts []string
			for _, bounds := range []map[int][]byte{task.File.LowerBoundValues(), task.File.UpperBoundValues()} {
				text := "none"
				if data, ok := bounds[field.ID]; ok {
					value, err := iceberg.LiteralFromBytes(field.Type, data)
					if err != nil {
						return fmt.Errorf("column %s: %w", field.Name, err)
					}
					text = value.String()
				}
				texts = append(texts, text)
			}
			fmt.Println(field.Name, task.File.ValueCounts()[field.ID], task.File.NullValueCounts()[field.ID], texts)
		}
	}
	return nil
}

// printPartitions prints the values of the partitions of the files of a table, and those of the transforms of the lower bounds of
// their columns, for files of equal values.
func printPartitions(ctx context.Context, folder, name string) error {
	w, err := openTable(ctx, folder, name)
	if err != nil {
		return err
	}
	tasks, err := w.table.Scan().PlanFiles(ctx)
	if err != nil {
		return err
	}
	spec := w.table.Spec()
	for _, task := range tasks {
		for _, field := range spec.Fields() {
			source, ok := w.table.Schema().FindFieldByID(field.SourceID())
			if !ok {
				return fmt.Errorf("the field %s has no column", field.Name)
			}
			var value iceberg.Optional[iceberg.Literal]
			if data, ok := task.File.LowerBoundValues()[source.ID]; ok {
				if value.Val, err = iceberg.LiteralFromBytes(source.Type, data); err != nil {
					return fmt.Errorf("column %s: %w", source.Name, err)
				}
				value.Valid = true
			}
			applied := any(nil)
			if result := field.Transform.Apply(value); result.Valid {
				applied = result.Val.Any()
			}
			fmt.Printf("%s: %v | %v\n", field.Name, task.File.Partition()[field.FieldID], applied)
		}
	}
	return nil
}

// printRows prints the rows of the current snapshot of a table.
func printRows(ctx context.Context, folder, name string) error {
	w, err := openTable(ctx, folder, name)
	if err != nil {
		return err
	}
	lines, err := w.rows(w.table.Scan())
	for _, line := range lines {
		fmt.Println(line)
	}
	return err
}

// note writes the rows of the current snapshot, by the schema that it was written with, as lines of JSON in their order.
func (w *writer) note() error {
	snapshot := w.table.CurrentSnapshot()
	lines, err := w.rows(w.table.Scan(table.WithSnapshotID(snapshot.SnapshotID)))
	if err != nil {
		return err
	}
	folder := filepath.Join(w.folder, "go", w.name, "expected")
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, fmt.Sprintf("%d.jsonl", snapshot.SnapshotID)), []byte(strings.Join(lines, "\n")+"\n"), 0o666)
}

// rows returns the rows of a scan, which it closes, as lines of JSON in their order.
func (w *writer) rows(scan *table.Scan) (lines []string, err error) {
	defer func() { err = errors.Join(err, scan.Close()) }()
	_, records, err := scan.ToArrowRecords(w.ctx)
	if err != nil {
		return nil, err
	}
	for record, err := range records {
		if err != nil {
			return nil, err
		}
		var text bytes.Buffer
		err = array.RecordToJSON(record, &text)
		record.Release()
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(text.String()) {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	slices.Sort(lines)
	return lines, nil
}
