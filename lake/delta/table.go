package delta

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/scalar"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/lake/internal/rows"
	"github.com/gpuframe/gpuframe/lake/internal/storage"
	"github.com/gpuframe/gpuframe/objectstore"
)

// Options choose a version and where files are.
type Options struct {
	// Version is the version that is read. Nil means the newest one.
	Version *int64
	// Timestamp chooses the newest version that is not younger. Zero means the newest one. Give this or Version.
	Timestamp time.Time
	// Zone is the time zone of timestamps in partition values that have none: that of the writer, which the log does not
	// have. Nil means UTC.
	Zone *time.Location
	// Store has all files: paths are URLs of its objects. Nil means the stores that imported packages have registered: see
	// package objectstore.
	Store objectstore.Store
	// System has all files, by names of package io/fs. Nil means the file system of the machine.
	System fs.FS
}

// Table is a version of a table. It is safe for concurrent use.
type Table struct {
	root    string
	from    storage.Storage
	version int64
	schema  *arrow.Schema
	zone    *time.Location
	columns []column
	files   []*file
}

// File is a file of a table.
type File struct {
	// Path is the name of the file or its URL.
	Path string
	Size int64
	// Partition has the values of the partition columns, by the names of the schema.
	Partition map[string]scalar.Scalar
	// Rows is the number of rows in the file, deleted ones too, or -1 if the log does not have it.
	Rows int64
	// Deleted is the number of rows that a deletion vector has.
	Deleted int64
}

// file is a file with its deleted rows and statistics.
type file struct {
	File
	deleted *rows.Set
	stats   func() statistics
	vector  bool
}

// Open reads the log of a table, and its deletion vectors.
//
// # Errors
//
// All are an [*Error]. It wraps [fs.ErrNotExist] if the folder has no log, and [ErrVersion] if the log does not have the version.
func Open(ctx context.Context, path string, options Options) (*Table, error) {
	from := storage.Storage{System: options.System, Store: options.Store}
	t := &Table{root: from.Root(path), from: from, zone: cmp.Or(options.Zone, time.UTC)}
	name, err := from.Name(path)
	if err == nil {
		t.root = from.Root(name)
		err = t.open(ctx, options)
	}
	if err == nil {
		return t, nil
	}
	failure := &Error{Table: objectstore.Display(t.root), Err: err}
	if known, ok := err.(*Error); ok {
		failure.File, failure.Err = objectstore.Display(known.File), known.Err
	}
	return nil, failure
}

func (t *Table) open(ctx context.Context, options Options) error {
	if options.Version != nil && !options.Timestamp.IsZero() {
		return fmt.Errorf("a version and a timestamp are given, expected one of them: %w", ErrVersion)
	}
	l := &log{Storage: t.from, folder: storage.Join(t.root, "_delta_log")}
	s, err := l.find(ctx, options)
	if err != nil {
		return err
	}
	state, err := l.replay(ctx, s)
	if err != nil {
		return err
	}
	t.version = s.version
	if err := state.protocol.check(); err != nil {
		return err
	}
	by := mapping("none")
	if mode := state.metadata.Configuration["delta.columnMapping.mode"]; mode != "" && state.protocol.MinReaderVersion >= 2 {
		if by = mapping(mode); by != "none" && by != "name" && by != "id" {
			return fmt.Errorf("delta.columnMapping.mode is %q, expected none, name or id: %w", mode, ErrUnsupported)
		}
	}
	if provider := state.metadata.Format.Provider; provider != "" && provider != "parquet" {
		return fmt.Errorf("its files have the format %q, expected parquet: %w", provider, ErrUnsupported)
	}
	if t.columns, err = parseSchema(state.metadata.SchemaString, by); err != nil {
		return err
	}
	fields, _ := fieldsOf(t.columns)
	t.schema = arrow.NewSchema(fields, nil)
	return t.addFiles(ctx, state)
}

// mostVectors is the number of deletion vectors that are read at a time.
const mostVectors = 32

func (t *Table) addFiles(ctx context.Context, state *snapshot) error {
	partitions, err := t.partitions(state.metadata.PartitionColumns)
	if err != nil {
		return err
	}
	adds := state.adds()
	t.files = make([]*file, len(adds))
	for i, add := range adds {
		if t.files[i], err = t.newFile(add, partitions); err != nil {
			return inFile(add.Path, err)
		}
	}
	var vectors []int
	for i, f := range t.files {
		if f.vector {
			vectors = append(vectors, i)
		}
	}
	return storage.Each(ctx, mostVectors, len(vectors), func(ctx context.Context, n int) error {
		f, about := t.files[vectors[n]], adds[vectors[n]].Vector
		deleted, err := about.load(ctx, t.from, t.root)
		if err == nil {
			err = fits(deleted, f.Rows)
		}
		if err != nil {
			return inFile(f.Path, err)
		}
		f.deleted, f.Deleted = deleted, deleted.Len()
		return nil
	})
}

// fits refuses a vector with rows behind those of the file. The footer of a file shows it if the log does not have the number.
func fits(deleted *rows.Set, number int64) error {
	if number < 0 {
		return nil
	}
	for row := range deleted.Between(number, math.MaxInt64) {
		return fmt.Errorf("the deletion vector has row %d, the file %d rows: %w", row, number, ErrVector)
	}
	return nil
}

// partitions returns the columns of partitions.
func (t *Table) partitions(names []string) (columns []column, err error) {
	for _, name := range names {
		index := slices.IndexFunc(t.columns, func(c column) bool { return c.name == name })
		if index < 0 {
			return nil, fmt.Errorf("the partition column %q is not in the schema: %w", name, ErrLog)
		}
		columns = append(columns, t.columns[index])
	}
	return columns, nil
}

func (t *Table) newFile(add *addFile, partitions []column) (*file, error) {
	name, err := resolve(t.root, add.Path)
	if err != nil {
		return nil, err
	}
	f := &file{
		File: File{Path: name, Size: add.Size, Partition: map[string]scalar.Scalar{}}, vector: add.Vector != nil,
		stats: sync.OnceValue(func() statistics { return parseStatistics(add.Stats) }),
	}
	f.Rows = f.stats().rows()
	for _, c := range partitions {
		if f.Partition[c.name], err = partitionValue(add.PartitionValues[c.physical], c.t, t.zone); err != nil {
			return nil, fmt.Errorf("column %q: %w", c.name, err)
		}
	}
	return f, nil
}

// Version is the version of the table that was opened.
func (t *Table) Version() int64 { return t.version }

// Schema has the columns of the table. All of them are nullable: the log's word for it is not checked.
func (t *Table) Schema() *arrow.Schema { return t.schema }

// Files returns the files of the version.
func (t *Table) Files() []File {
	list := make([]File, len(t.files))
	for i, f := range t.files {
		list[i] = f.File
		list[i].Partition = maps.Clone(f.Partition)
	}
	return list
}

// Query is a query on the rows of the table. It may be run many times, also when later versions have been written, as long as
// no writer has removed the files (VACUUM).
func (t *Table) Query(engine *gpuframe.Engine) gpuframe.Query {
	_, origins := fieldsOf(t.columns)
	listed := gpuframe.TableFiles{Name: fmt.Sprintf("delta %s version %d", objectstore.Display(t.root), t.version), Schema: t.schema, Origins: origins}
	for _, f := range t.files {
		entry := gpuframe.TableFile{Path: f.Path, Rows: f.Rows, Constants: f.Partition, DeletedRows: f.Deleted, Range: t.ranges(f)}
		if f.deleted != nil {
			entry.Deleted = f.deleted.Between
		}
		listed.Files = append(listed.Files, entry)
	}
	return t.from.TableFiles(engine, listed)
}

// ranges returns the ranges of the columns of a file by the log.
func (t *Table) ranges(f *file) func(string) gpuframe.ColumnRange {
	return func(name string) gpuframe.ColumnRange {
		index := slices.IndexFunc(t.columns, func(c column) bool { return c.name == name })
		if index < 0 {
			return gpuframe.ColumnRange{Nulls: -1, Valid: -1}
		}
		return f.stats().rangeOf(t.columns[index], f.vector)
	}
}
