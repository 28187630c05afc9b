package iceberg

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/lake/internal/storage"
	"github.com/gpuframe/gpuframe/objectstore"
)

// WriteOptions choose how files of data are written.
type WriteOptions struct {
	// Parquet are the options of the files. The zero value is compression by zstd. FieldIDs are those of the table.
	Parquet gpuframe.ParquetOptions
	// PartitionBy are the partitions of a new table: each of their values has separate files. They are columns, whose values stay as they
	// are, and transforms of columns: "bucket(16, id)", "truncate(10, city)", "year(at)", "month(at)", "day(at)", "hour(at)" and
	// "void(city)". A table that exists has its own.
	PartitionBy []string
}

// Writer writes snapshots of the branch main of a table of format version 2. It is safe for concurrent use, as are several writers of a table.
type Writer struct {
	name    string
	from    storage.Storage
	options WriteOptions
	table   committer
}

// committer is where the metadata of a table are.
type committer interface {
	// load reads the newest metadata.
	load(ctx context.Context) (*state, error)
	// commit adds a snapshot to the metadata. [ErrConflict] means that others are newer, [ErrUnknown] that they may have it.
	commit(ctx context.Context, s *state, snapshot map[string]any) error
}

// Create makes a table in a folder, a path or the URL of a registered store. The columns of the schema that are not nullable are
// required; parts of lists, structs and maps may always be null.
//
// # Errors
//
// All are an [*Error]. It wraps [io/fs.ErrExist] if the folder has a table, [ErrColumns] if Iceberg lacks a type, and
// [errors.ErrUnsupported] if the store has no conditional writes.
func Create(ctx context.Context, path string, schema *arrow.Schema, options WriteOptions) (*Writer, error) {
	w, f, err := newWriter(path, options)
	if err == nil {
		err = f.create(ctx, schema, options.PartitionBy)
	}
	if err != nil {
		return nil, failed("create", path, err)
	}
	return w, nil
}

// OpenWriter returns a writer of the table in a folder with metadata called v1.metadata.json and so on, as those of [Create]
// and of catalogs of file systems.
//
// # Errors
//
// All are an [*Error]. It wraps [io/fs.ErrNotExist] if the folder has no table, and [ErrUnsupported] if this package does not write it.
func OpenWriter(ctx context.Context, path string, options WriteOptions) (*Writer, error) {
	w, f, err := newWriter(path, options)
	if err == nil {
		_, err = f.load(ctx)
	}
	if err != nil {
		return nil, failed("open", path, err)
	}
	return w, nil
}

// Append runs a query and adds its rows as a snapshot. If others have added snapshots meanwhile, it adds to theirs, unless they
// have changed the schema. The query has the columns of the table in any order. Options are those of the run.
//
// # Errors
//
// All are an [*Error]. It wraps [ErrColumns] if the query does not fit the table, [ErrConflict] after many lost races or if the
// schema has changed, and [ErrUnknown] if the answer to the commit was lost. After any other error the table is as it was, and
// the files of the write are removed; those that cannot be removed are in the error.
func (w *Writer) Append(ctx context.Context, query gpuframe.Query, options ...gpuframe.RunOption) (Snapshot, error) {
	return w.write(ctx, "append", query, options)
}

// Overwrite is [Writer.Append] in place of all rows of the table. A snapshot that another writer has added meanwhile is
// [ErrConflict].
func (w *Writer) Overwrite(ctx context.Context, query gpuframe.Query, options ...gpuframe.RunOption) (Snapshot, error) {
	return w.write(ctx, "overwrite", query, options)
}

func (w *Writer) write(ctx context.Context, operation string, query gpuframe.Query, options []gpuframe.RunOption) (Snapshot, error) {
	p := &pending{operation: operation, write: newUUID(), snapshot: newSnapshotID()}
	s, err := w.table.load(ctx)
	if err == nil {
		err = w.writeData(ctx, s, p, query, options)
	}
	var described Snapshot
	if err == nil {
		described, err = w.commit(ctx, s, p)
	}
	if err == nil {
		return described, nil
	}
	if !errors.Is(err, ErrUnknown) {
		err = withCleaning(err, remove(ctx, w.from, slices.Concat(p.data, p.described)))
	}
	return Snapshot{}, failed(operation, w.name, err)
}

// withCleaning adds the error of removing files to that of a write.
func withCleaning(err, cleaning error) error {
	if cleaning == nil {
		return err
	}
	return fmt.Errorf("%w; remove its files: %w", err, cleaning)
}

// writeData runs the query and writes its rows to a file.
func (w *Writer) writeData(ctx context.Context, s *state, p *pending, query gpuframe.Query, options []gpuframe.RunOption) error {
	schema, err := query.Schema(ctx)
	if err != nil {
		return err
	}
	if err := checkColumns(s.columns, s.required, schema); err != nil {
		return err
	}
	_, origins := fieldsOf(s.columns)
	parquet := w.options.Parquet
	parquet.FieldIDs = fieldIDs(origins)
	for i, c := range s.columns {
		parquet.FieldIDs[i].UUID = slices.Contains(s.uuids, c.id)
	}
	if parquet.Compression == "" && parquet.Level == 0 {
		parquet.Compression = "zstd"
	}
	format := gpuframe.ParquetWith(parquet)
	if len(s.partitions) > 0 {
		err = w.writePartitions(ctx, s, p, query, format, options)
	} else {
		err = w.writeFile(ctx, s, p, query, format, options)
	}
	if err != nil {
		return err
	}
	for _, uri := range p.data {
		f, err := w.added(ctx, s, uri)
		if err != nil {
			return err
		}
		p.files = append(p.files, f)
	}
	return nil
}

// columnsFor returns expressions of columns in the order of the table.
func columnsFor(columns []column) (list []gpuframe.Expression) {
	for _, c := range columns {
		list = append(list, gpuframe.Col(c.name))
	}
	return list
}

// writeFile runs the query and writes its rows to one file, which it notes if there are rows.
func (w *Writer) writeFile(ctx context.Context, s *state, p *pending, query gpuframe.Query, format gpuframe.Format, options []gpuframe.RunOption) error {
	uri := storage.Join(s.location, "data/"+p.write+".parquet")
	name, err := pathOf(w.from, uri)
	if err != nil {
		return err
	}
	if err := storage.MakeFolder(name); err != nil {
		return err
	}
	p.data = []string{uri}
	rows, err := query.Select(columnsFor(s.columns)).WriteFile(ctx, name, format, options...)
	if err != nil || rows > 0 {
		return err
	}
	p.data = nil
	return w.from.Remove(ctx, name)
}

// added describes a file of data that was written.
func (w *Writer) added(ctx context.Context, s *state, uri string) (addedFile, error) {
	name, err := pathOf(w.from, uri)
	if err != nil {
		return addedFile{}, err
	}
	m, err := readMetrics(ctx, w.from, name, leafTypes(map[int]arrow.DataType{}, s.columns))
	if err != nil {
		return addedFile{}, inFile(name, err)
	}
	partition, err := s.partitionOf(uri)
	if err != nil {
		return addedFile{}, err
	}
	return addedFile{uri, partition, m}, m.checkRequired(s.columns, s.required)
}

// mostAttempts is the number of races that an append may lose.
const mostAttempts = 20

// commit commits the snapshot, on top of that of another writer if that was faster.
func (w *Writer) commit(ctx context.Context, s *state, p *pending) (Snapshot, error) {
	table, schema, spec, parent := s.about.UUID, string(s.schema), s.about.Spec, s.parent()
	for attempt := 1; ; attempt++ {
		described, err := p.prepare(ctx, s)
		if err == nil {
			err = w.table.commit(ctx, s, described)
		}
		if err == nil {
			return snapshotOf(described), nil
		}
		if !errors.Is(err, ErrConflict) || p.operation != "append" || attempt == mostAttempts {
			return Snapshot{}, err
		}
		if failure := remove(ctx, w.from, p.described); failure != nil {
			return Snapshot{}, withCleaning(err, failure)
		}
		p.attempt, p.described = attempt, nil
		if s, err = w.table.load(ctx); err != nil {
			return Snapshot{}, err
		}
		if s.about.UUID != table {
			return Snapshot{}, fmt.Errorf("the table was dropped and another one created: %w", ErrConflict)
		}
		if string(s.schema) != schema || s.about.Spec != spec {
			return Snapshot{}, fmt.Errorf("its schema or its partitions have changed since snapshot %s: repeat the write: %w", idText(parent), ErrConflict)
		}
	}
}

func idText(id *int64) string {
	if id == nil {
		return "none"
	}
	return fmt.Sprint(*id)
}

// snapshotOf returns the description of a snapshot for users.
func snapshotOf(described map[string]any) Snapshot {
	summary, _ := described["summary"].(map[string]string)
	s := Snapshot{Summary: summary, Operation: summary["operation"]}
	s.ID, _ = described["snapshot-id"].(int64)
	s.Sequence, _ = described["sequence-number"].(int64)
	at, _ := described["timestamp-ms"].(int64)
	s.Time = time.UnixMilli(at).UTC()
	if parent, ok := described["parent-snapshot-id"].(int64); ok {
		s.Parent = &parent
	}
	return s
}

// removeTime is the time to remove the files of a write that failed.
const removeTime = 10 * time.Second

// remove removes files of a write, also after the context is done.
func remove(ctx context.Context, from storage.Storage, uris []string) (err error) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), removeTime)
	defer stop()
	for _, uri := range uris {
		name, failure := pathOf(from, uri)
		if failure == nil {
			failure = from.Remove(ctx, name)
		}
		if failure != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", objectstore.Display(uri), failure))
		}
	}
	return err
}

// newUUID returns a random UUID.
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

func newSnapshotID() int64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return int64(binary.BigEndian.Uint64(b[:])>>1 | 1)
}

func newWriter(path string, options WriteOptions) (*Writer, *folder, error) {
	if strings.HasSuffix(path, ".metadata.json") {
		return nil, nil, fmt.Errorf("the path is that of metadata, expected the folder of the table: %w", fs.ErrInvalid)
	}
	f, err := newFolder(path)
	if err != nil {
		return nil, nil, err
	}
	return &Writer{name: objectstore.Display(path), from: f.from, options: options, table: f}, f, nil
}
