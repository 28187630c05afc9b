package iceberg

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/gpuframe/gpuframe/lake/internal/storage"
	"github.com/gpuframe/gpuframe/objectstore"
)

const (
	// mostManifest is the length of a manifest or a list of manifests at most.
	mostManifest = 1 << 30
	// mostRows is the number of rows of a file at most.
	mostRows = 1 << 40
	// atATime is the number of manifests that are read at a time.
	atATime = 16
)

// manifest is an entry of a list of manifests.
type manifest struct {
	Path     string `avro:"manifest_path"`
	Spec     int32  `avro:"partition_spec_id"`
	Content  int32  `avro:"content"`
	Sequence int64  `avro:"sequence_number"`
	Key      []byte `avro:"key_metadata"`
	// unlisted means that the metadata of the table name it, without a list: its header has its spec.
	unlisted bool
}

var manifestNames = []string{"manifest_path", "partition_spec_id", "content", "sequence_number", "key_metadata"}

// status of an entry of a manifest.
const (
	existing = 0
	added    = 1
	deleted  = 2
)

// content of a file.
const (
	dataContent     = 0
	positionContent = 1
	equalityContent = 2
)

// entry is an entry of a manifest.
type entry struct {
	Status   int32    `avro:"status"`
	Sequence *int64   `avro:"sequence_number"`
	File     dataFile `avro:"data_file"`

	spec      int
	partition partition
	sequence  int64
}

// dataFile describes a file of data or of deletes.
type dataFile struct {
	Content    int32          `avro:"content"`
	Path       string         `avro:"file_path"`
	Format     string         `avro:"file_format"`
	Partition  map[string]any `avro:"partition"`
	Rows       int64          `avro:"record_count"`
	Size       int64          `avro:"file_size_in_bytes"`
	Values     []count        `avro:"value_counts"`
	Nulls      []count        `avro:"null_value_counts"`
	Lower      []bound        `avro:"lower_bounds"`
	Upper      []bound        `avro:"upper_bounds"`
	Key        []byte         `avro:"key_metadata"`
	Equality   []int32        `avro:"equality_ids"`
	Referenced *string        `avro:"referenced_data_file"`
	Offset     *int64         `avro:"content_offset"`
	Length     *int64         `avro:"content_size_in_bytes"`
}

type count struct {
	ID    int32 `avro:"key"`
	Count int64 `avro:"value"`
}

type bound struct {
	ID    int32  `avro:"key"`
	Value []byte `avro:"value"`
}

var entryNames = []string{
	"status", "sequence_number", "data_file", "content", "file_path", "file_format", "partition", "record_count", "file_size_in_bytes", "value_counts",
	"null_value_counts", "lower_bounds", "upper_bounds", "key_metadata", "equality_ids", "referenced_data_file", "content_offset", "content_size_in_bytes", "key", "value",
}

// manifests returns those of a snapshot.
func (t *Table) manifests(ctx context.Context, s *snapshot, b *budget) (list []manifest, err error) {
	if s.ManifestList == "" {
		for _, path := range s.Manifests {
			list = append(list, manifest{Path: path, unlisted: true})
		}
		return list, eachOnce(list)
	}
	name, err := t.fileName(s.ManifestList)
	if err != nil {
		return nil, err
	}
	data, err := t.need(ctx, name, mostManifest)
	if err == nil {
		err = readAvro(ctx, data, manifestNames, func(_ *avroFile, m *manifest) error {
			if m.Path == "" {
				return fmt.Errorf("manifest %d has no path: %w", len(list), ErrMetadata)
			}
			if err := b.take(int64(len(m.Path))); err != nil {
				return err
			}
			if len(m.Key) > 0 {
				return inFile(m.Path, fmt.Errorf("the manifest is encrypted: %w", ErrUnsupported))
			}
			list = append(list, *m)
			return nil
		})
	}
	if err == nil {
		err = eachOnce(list)
	}
	return list, inFile(name, err)
}

// eachOnce refuses manifests that are named twice.
func eachOnce(list []manifest) error {
	paths := make(map[string]bool, len(list))
	for _, m := range list {
		if paths[m.Path] {
			return fmt.Errorf("the manifest %s is named twice: %w", objectstore.Display(m.Path), ErrMetadata)
		}
		paths[m.Path] = true
	}
	return nil
}

// need reads a file that the metadata name.
func (t *Table) need(ctx context.Context, name string, most int64) ([]byte, error) {
	data, err := t.from.Read(ctx, name, most)
	return data, storage.Needed(err, ErrMetadata)
}

// entries returns the files of a snapshot that are part of it, in the order of the manifests.
func (t *Table) entries(ctx context.Context, s *snapshot) ([]*entry, error) {
	b := newBudget(mostFiles, mostEntryBytes)
	list, err := t.manifests(ctx, s, b)
	if err != nil {
		return nil, err
	}
	parts := make([][]*entry, len(list))
	err = storage.Each(ctx, atATime, len(list), func(ctx context.Context, i int) error {
		name, err := t.fileName(list[i].Path)
		if err != nil {
			return err
		}
		data, err := t.need(ctx, name, mostManifest)
		if err == nil {
			parts[i], err = t.metadata.readManifest(ctx, data, list[i], b)
		}
		return inFile(name, err)
	})
	var all []*entry
	for _, part := range parts {
		all = append(all, part...)
	}
	return all, err
}

// readManifest returns the entries of a manifest that are not deleted.
func (meta *metadata) readManifest(ctx context.Context, data []byte, m manifest, b *budget) (list []*entry, err error) {
	number := 0
	err = readAvro(ctx, data, entryNames, func(f *avroFile, e *entry) error {
		number++
		e.File.Lower, e.File.Upper = withoutLong(e.File.Lower), withoutLong(e.File.Upper)
		if err := b.take(e.length()); err != nil {
			return err
		}
		if e.Status == deleted {
			return nil
		}
		if err := e.complete(meta, f, m); err != nil {
			return fmt.Errorf("entry %d: %w", number, err)
		}
		list = append(list, e)
		return nil
	})
	return list, err
}

// withoutLong leaves out bounds that are too long to keep.
func withoutLong(bounds []bound) []bound {
	return slices.DeleteFunc(bounds, func(b bound) bool { return len(b.Value) > mostBound })
}

// complete adds what an entry inherits from its manifest, and checks it.
func (e *entry) complete(meta *metadata, f *avroFile, m manifest) (err error) {
	if e.File.Path == "" || e.File.Rows < 0 || e.Status != existing && e.Status != added {
		return fmt.Errorf("its file %q has no path, or %d rows, or the status %d: %w", e.File.Path, e.File.Rows, e.Status, ErrMetadata)
	}
	if e.File.Rows > mostRows {
		return fmt.Errorf("its file %s has %d rows, the limit is %d: %w", e.File.Path, e.File.Rows, int64(mostRows), ErrLimit)
	}
	if e.File.Content < dataContent || e.File.Content > equalityContent || (m.Content == 0) != (e.File.Content == dataContent) {
		return fmt.Errorf("its file %s has the content %d, in a manifest of content %d: %w", e.File.Path, e.File.Content, m.Content, ErrMetadata)
	}
	e.spec = int(m.Spec)
	if m.unlisted {
		e.spec, _ = strconv.Atoi(string(f.metadata["partition-spec-id"])) // 0 without one
	}
	switch {
	case e.Sequence != nil:
		e.sequence = *e.Sequence
	case e.Status == added || m.Sequence == 0:
		e.sequence = m.Sequence
	default:
		return fmt.Errorf("its file %s has no sequence number: %w", e.File.Path, ErrMetadata)
	}
	if e.partition, err = meta.newPartition(e.spec, e.File.Partition, f.partition); err != nil {
		return fmt.Errorf("its file %s: %w", e.File.Path, err)
	}
	e.File.Partition = nil
	return nil
}
