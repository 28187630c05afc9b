package delta

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/lake/internal/storage"
)

// readCheckpoint applies the actions of the checkpoint of a segment, and of its sidecars.
func (l *log) readCheckpoint(ctx context.Context, s segment, state *snapshot) error {
	if s.checkpoint < 0 {
		return nil
	}
	var sidecars []string
	visit := func(a action) error {
		if a.Sidecar != nil {
			sidecars = append(sidecars, a.Sidecar.Path)
		}
		state.apply(a)
		return nil
	}
	for _, name := range s.files {
		if err := l.readActions(ctx, storage.Join(l.folder, name), visit); err != nil {
			return inFile(name, err)
		}
	}
	for i := 0; i < len(sidecars); i++ {
		name, err := resolve(storage.Join(l.folder, "_sidecars"), sidecars[i])
		if err == nil {
			err = l.readActions(ctx, name, func(a action) error {
				if a.Sidecar != nil {
					return fmt.Errorf("a sidecar has the action sidecar: %w", ErrLog)
				}
				state.apply(a)
				return nil
			})
		}
		if err != nil {
			return inFile(name, err)
		}
	}
	return nil
}

// readActions reads a file of JSON or Parquet.
func (l *log) readActions(ctx context.Context, name string, visit func(action) error) error {
	data, err := l.need(ctx, name)
	if err != nil {
		return err
	}
	if strings.HasSuffix(name, ".json") {
		return parseActions(data, visit)
	}
	engine, err := gpuframe.Open(gpuframe.Device("host"))
	if err != nil {
		return err
	}
	return errors.Join(parquetActions(ctx, engine, name, data, visit), engine.Close())
}

// parquetActions reads the rows of a checkpoint on the host. Each has one action.
func parquetActions(ctx context.Context, engine *gpuframe.Engine, name string, data []byte, visit func(action) error) error {
	query := engine.ParquetReaderAt(name, bytes.NewReader(data), int64(len(data)))
	schema, err := query.Schema(ctx)
	if err != nil {
		return fmt.Errorf("%w: %w", err, ErrLog)
	}
	var columns []gpuframe.Expression
	for _, field := range schema.Fields() {
		if slices.Contains([]string{"add", "metaData", "protocol", "sidecar"}, field.Name) {
			columns = append(columns, gpuframe.Col(field.Name))
		}
	}
	if len(columns) == 0 {
		return nil // a part with other actions
	}
	for frame, err := range query.Select(columns).Batches(ctx) {
		if err != nil {
			return fmt.Errorf("%w: %w", err, ErrLog)
		}
		record, err := frame.Record(ctx)
		if err = errors.Join(err, frame.Release()); err != nil {
			return err
		}
		err = recordActions(record, visit)
		record.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// recordActions calls visit for the actions of a record.
func recordActions(record arrow.Record, visit func(action) error) error {
	columns := map[string]*array.Struct{}
	for i, field := range record.Schema().Fields() {
		values, ok := record.Column(i).(*array.Struct)
		if !ok {
			return fmt.Errorf("the column %s of the checkpoint is of %v, expected a struct: %w", field.Name, field.Type, ErrLog)
		}
		columns[field.Name] = values
	}
	for row := range int(record.NumRows()) {
		for name, values := range columns {
			if values.IsNull(row) {
				continue
			}
			var failure error
			a := actionOf(name, members{values, row, &failure})
			if err := cmp.Or(failure, a.check()); err != nil {
				return fmt.Errorf("row %d: column %s: %w", row, name, err)
			}
			if err := visit(a); err != nil {
				return err
			}
		}
	}
	return nil
}

func actionOf(name string, m members) action {
	switch name {
	case "add":
		add := &addFile{Path: m.text("path"), PartitionValues: m.texts("partitionValues"), Size: m.integer("size"), Stats: m.text("stats"), Vector: m.vector()}
		if add.Stats == "" {
			add.Stats = m.json("stats_parsed")
		}
		return action{Add: add}
	case "metaData":
		about := &metadata{SchemaString: m.text("schemaString"), PartitionColumns: m.list("partitionColumns"), Configuration: map[string]string{}}
		for key, value := range m.texts("configuration") {
			if value != nil {
				about.Configuration[key] = *value
			}
		}
		if format, ok := m.inner("format"); ok {
			about.Format.Provider = format.text("provider")
		}
		return action{Metadata: about}
	case "protocol":
		return action{Protocol: &protocol{MinReaderVersion: int(m.integer("minReaderVersion")), ReaderFeatures: m.list("readerFeatures")}}
	}
	return action{Sidecar: &sidecar{Path: m.text("path")}}
}

func (m members) vector() *vectorAbout {
	inner, ok := m.inner("deletionVector")
	if !ok {
		return nil
	}
	v := &vectorAbout{StorageType: inner.text("storageType"), Path: inner.text("pathOrInlineDv"), Size: inner.integer("sizeInBytes"), Cardinality: inner.integer("cardinality")}
	if inner.find("offset") != nil {
		offset := inner.integer("offset")
		v.Offset = &offset
	}
	return v
}
