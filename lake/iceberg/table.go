package iceberg

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/scalar"

	"github.com/gpuframe/gpuframe/lake/internal/rows"
	"github.com/gpuframe/gpuframe/lake/internal/storage"
	"github.com/gpuframe/gpuframe/objectstore"
)

// Options choose a snapshot and where files are. Give one of Snapshot, Timestamp and Ref, or none for the current snapshot.
type Options struct {
	// Snapshot is the ID of the snapshot that is read.
	Snapshot *int64
	// Timestamp chooses the snapshot that was the current one at a time.
	Timestamp time.Time
	// Ref is the name of a branch or a tag.
	Ref string
	// Moved means that the table was copied or moved as a whole: paths of the metadata that begin with its old location are
	// those of the folder that is opened.
	Moved bool
	// Store has all files: paths are URLs of its objects. Nil means the stores that imported packages have registered: see
	// package objectstore.
	Store objectstore.Store
	// System has all files, by names of package io/fs. Nil means the file system of the machine.
	System fs.FS
}

// Table is a snapshot of a table. It is safe for concurrent use.
type Table struct {
	name     string
	root     string
	moved    bool
	from     storage.Storage
	metadata *metadata
	snapshot *snapshot
	names    map[int][]string
	schema   *arrow.Schema
	columns  []column
	// hidden are columns that the schema lacks and equality deletes have.
	hidden   []column
	files    []*file
	equality []*equality
}

// File is a file of data of a table.
type File struct {
	// Path is the name of the file or its URL.
	Path string
	Size int64
	// Partition has the values of the columns by which the file is partitioned unchanged.
	Partition map[string]scalar.Scalar
	// Rows is the number of rows in the file, deleted ones too.
	Rows int64
	// Deleted is the number of rows that position deletes or a deletion vector have. Equality deletes are not counted.
	Deleted int64
}

// file is a file with its deleted rows and its entry in a manifest.
type file struct {
	File
	entry   *entry
	sources []sourced
	// hidden are the constants of hidden columns.
	hidden  map[string]scalar.Scalar
	deleted *rows.Set
	// marked means that equality deletes may apply to the file.
	marked bool
}

// Open reads the metadata of a table, the manifests of a snapshot, position deletes and deletion vectors. The path is the folder
// of the table, or a file of its metadata. In a folder, version-hint.text names the newest metadata, or else they are those with the
// greatest version in their name. Names such as v3.metadata.json and 00003-….metadata.json in one folder are an error. A folder of the
// latter does not show which of them a catalog has committed: open such a table by the catalog, or by a file of its metadata.
//
// # Errors
//
// All are an [*Error]. It wraps [fs.ErrNotExist] if the folder has no metadata, and [ErrSnapshot] if they do not have the snapshot.
func Open(ctx context.Context, path string, options Options) (*Table, error) {
	from := storage.Storage{System: options.System, Store: options.Store}
	root, file, data, err := locate(ctx, from, path)
	if err != nil {
		return nil, failed("open", path, err)
	}
	m, err := parseMetadata(data)
	if err != nil {
		return nil, failed("open", path, inFile(file, err))
	}
	t := &Table{name: objectstore.Display(path), root: root, moved: options.Moved, from: from, metadata: m}
	if err := t.open(ctx, options); err != nil {
		return nil, failed("open", path, err)
	}
	return t, nil
}

func (t *Table) open(ctx context.Context, options Options) (err error) {
	var schema *jsonSchema
	if t.snapshot, schema, err = t.metadata.choose(options); err != nil {
		return err
	}
	if t.names, err = parseMapping(t.metadata.property(nameMapping)); err != nil {
		return err
	}
	if t.columns, err = columnsOf(schema, t.names); err != nil {
		return err
	}
	fields, _ := fieldsOf(t.columns)
	t.schema = arrow.NewSchema(fields, nil)
	if t.snapshot == nil {
		return nil
	}
	entries, err := t.entries(ctx, t.snapshot)
	if err != nil {
		return err
	}
	return t.addEntries(ctx, entries)
}

// addEntries adds the files of a snapshot, and their deleted rows.
func (t *Table) addEntries(ctx context.Context, entries []*entry) error {
	var deletes []*entry
	for _, e := range entries {
		if e.File.Content != dataContent {
			deletes = append(deletes, e)
			continue
		}
		f, err := t.newFile(e, t.columns)
		if err != nil {
			return inFile(e.File.Path, err)
		}
		t.files = append(t.files, f)
	}
	if err := t.addEquality(deletes); err != nil {
		return err
	}
	return t.addPositions(ctx, deletes)
}

// newFile describes a file of data or of equality deletes, which have the columns.
func (t *Table) newFile(e *entry, columns []column) (*file, error) {
	if len(e.File.Key) > 0 {
		return nil, fmt.Errorf("it is encrypted: %w", ErrUnsupported)
	}
	if !strings.EqualFold(e.File.Format, "parquet") {
		return nil, fmt.Errorf("its format is %q, expected parquet: %w", e.File.Format, ErrUnsupported)
	}
	spec, ok := t.metadata.spec(e.spec)
	if !ok {
		return nil, fmt.Errorf("its partition spec %d is absent: %w", e.spec, ErrMetadata)
	}
	name, err := t.fileName(e.File.Path)
	if err != nil {
		return nil, err
	}
	f := &file{File: File{Path: name, Size: e.File.Size, Rows: e.File.Rows}, entry: e, sources: sources(spec, columns)}
	f.Partition, err = constants(f.sources, e.partition)
	return f, err
}

// Snapshot is the snapshot that was opened. It reports false for a table without one, which has no rows.
func (t *Table) Snapshot() (Snapshot, bool) {
	if t.snapshot == nil {
		return Snapshot{}, false
	}
	return t.snapshot.public(), true
}

// Snapshots returns the snapshots that the metadata have, in the order of their times.
func (t *Table) Snapshots() []Snapshot {
	var list []Snapshot
	for _, s := range t.metadata.Snapshots {
		list = append(list, s.public())
	}
	slices.SortStableFunc(list, func(a, b Snapshot) int { return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.Sequence, b.Sequence)) })
	return list
}

// Refs returns the branches and tags of the table, in the order of their names.
func (t *Table) Refs() []Ref {
	var list []Ref
	for name, each := range t.metadata.Refs {
		list = append(list, Ref{Name: name, Snapshot: each.ID, Branch: each.Type != "tag"})
	}
	slices.SortFunc(list, func(a, b Ref) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// Schema has the columns of the table: those of the snapshot if it was chosen by its ID, a timestamp or a tag, else the current
// ones. All of them are nullable: files may have nulls in columns that the metadata call required.
func (t *Table) Schema() *arrow.Schema { return t.schema }

// SchemaOf has the columns at the time of a snapshot.
//
// # Errors
//
// An [*Error] wraps [ErrSnapshot] if the metadata do not have the snapshot.
func (t *Table) SchemaOf(snapshot int64) (*arrow.Schema, error) {
	s := t.metadata.snapshot(snapshot)
	if s == nil {
		return nil, failed("open", t.name, fmt.Errorf("snapshot %d: %w", snapshot, ErrSnapshot))
	}
	columns, err := columnsOf(t.metadata.schemaOf(s), t.names)
	if err != nil {
		return nil, failed("open", t.name, err)
	}
	fields, _ := fieldsOf(columns)
	return arrow.NewSchema(fields, nil), nil
}

// Files returns the files of data of the snapshot.
func (t *Table) Files() []File {
	list := make([]File, len(t.files))
	for i, f := range t.files {
		list[i] = f.File
		list[i].Partition = maps.Clone(f.Partition)
	}
	return list
}
