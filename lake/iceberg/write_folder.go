package iceberg

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/lake/internal/storage"
	"github.com/gpuframe/gpuframe/objectstore"
)

// folder is a table by the metadata of the greatest version in its folder.
type folder struct {
	from storage.Storage
	root string
	// probed is set when the store has refused to write a file that exists.
	probed atomic.Bool
}

func newFolder(name string) (*folder, error) {
	f := &folder{}
	name, err := pathOf(f.from, name)
	if err != nil {
		return nil, err
	}
	if _, url := objectstore.SchemeOf(name); !url {
		if name, err = filepath.Abs(name); err != nil {
			return nil, err
		}
		name = filepath.ToSlash(name)
	}
	f.root = f.from.Root(name)
	return f, f.from.Writable(f.root)
}

func (f *folder) file(version int64) string {
	return storage.Join(f.root, fmt.Sprintf("metadata/v%d.metadata.json", version))
}

// create writes the first metadata.
func (f *folder) create(ctx context.Context, schema *arrow.Schema, partitionBy []string) error {
	if schema == nil || schema.NumFields() == 0 {
		return fmt.Errorf("the schema has no columns: %w", ErrColumns)
	}
	_, file, _, err := locate(ctx, f.from, f.root)
	if err == nil {
		return inFile(file, fs.ErrExist)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	data, err := newTableMetadata(f.root, newUUID(), time.Now().UnixMilli(), schema, partitionBy)
	if err != nil {
		return err
	}
	err = f.publish(ctx, 1, data)
	if errors.Is(err, ErrConflict) {
		return inFile(f.file(1), fs.ErrExist)
	}
	if err != nil {
		return err
	}
	return f.probe(ctx, f.file(1), data)
}

// probe writes metadata again that a store has: some stores ignore the condition that an object is new, and two writers would
// both have committed. It is done once for a writer.
func (f *folder) probe(ctx context.Context, name string, data []byte) error {
	if _, store := objectstore.SchemeOf(name); !store || f.probed.Load() {
		return nil
	}
	err := f.from.WriteNew(ctx, name, data)
	if err == nil {
		return inFile(name, fmt.Errorf("the store replaces objects that were to be new: commit by a catalog: %w: %w", errors.ErrUnsupported, ErrUnsupported))
	}
	if !errors.Is(err, fs.ErrExist) {
		return inFile(name, err)
	}
	f.probed.Store(true)
	return nil
}

func (f *folder) load(ctx context.Context) (*state, error) {
	_, file, data, err := locate(ctx, f.from, f.root)
	if err != nil {
		return nil, err
	}
	s, err := newState(f.from, file, data)
	if err != nil {
		return nil, inFile(file, err)
	}
	match := versioned.FindStringSubmatch(file[len(parent(file))+1:])
	if match == nil || match[1] == "" {
		return nil, inFile(file, fmt.Errorf("the metadata are those of a catalog, expected v%d.metadata.json: write by the catalog: %w", len(s.metadata.Snapshots)+1, ErrUnsupported))
	}
	if s.version, err = strconv.ParseInt(match[1], 10, 64); err != nil {
		return nil, inFile(file, fmt.Errorf("%w: %w", err, ErrMetadata))
	}
	if s.root != f.root {
		return nil, inFile(file, fmt.Errorf("the table was moved: its location is %s: %w", objectstore.Display(s.location), ErrUnsupported))
	}
	return s, f.probe(ctx, file, data)
}

func (f *folder) commit(ctx context.Context, s *state, snapshot map[string]any) error {
	data, err := s.with(snapshot)
	if err != nil {
		return err
	}
	return f.publish(ctx, s.version+1, data)
}

// publish writes the metadata of a version unless they exist. The hint that follows helps readers, which find later versions
// without it: a failure to write it is no error of the write.
func (f *folder) publish(ctx context.Context, version int64, data []byte) error {
	name := f.file(version)
	if err := f.from.WriteNew(ctx, name, data); err != nil {
		if err = f.outcome(ctx, name, data, err); err != nil {
			return err
		}
	}
	_ = f.from.Replace(ctx, storage.Join(f.root, "metadata/version-hint.text"), []byte(strconv.FormatInt(version, 10)))
	return nil
}

// outcome returns nil if a write that reported an error has made the file: the answer to it was lost.
func (f *folder) outcome(ctx context.Context, name string, data []byte, err error) error {
	_, store := objectstore.SchemeOf(name)
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), removeTime)
	defer stop()
	stored, failure := f.from.Read(ctx, name, mostMetadata)
	switch {
	case failure == nil && bytes.Equal(stored, data):
		return nil
	case failure == nil:
		return inFile(name, fmt.Errorf("%w: %w", err, ErrConflict))
	case store || !errors.Is(failure, fs.ErrNotExist):
		return inFile(name, fmt.Errorf("%w: %w", err, ErrUnknown))
	}
	return inFile(name, err)
}
