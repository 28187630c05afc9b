package iceberg

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/lake/internal/rows"
	"github.com/gpuframe/gpuframe/lake/internal/storage"
)

const (
	// pathID and positionID are the field IDs of the columns of files with position deletes.
	pathID     = math.MaxInt32 - 101
	positionID = math.MaxInt32 - 102
	// mostVector is the length of a deletion vector at most.
	mostVector = 1 << 30
	puffin     = "puffin"
)

// addPositions reads the deleted rows of files: deletion vectors, and position deletes of files without one.
func (t *Table) addPositions(ctx context.Context, deletes []*entry) error {
	vectors, err := t.vectors(deletes)
	if err != nil {
		return err
	}
	byPath, byPartition := map[string][]*file{}, map[string]bool{}
	var framed []*file
	for _, f := range t.files {
		if v := vectors[f.entry.File.Path]; v != nil && v.appliesTo(f.entry) {
			framed = append(framed, f)
			continue
		}
		byPath[f.entry.File.Path] = append(byPath[f.entry.File.Path], f)
		byPartition[f.entry.partition.key] = true
	}
	err = storage.Each(ctx, atATime, len(framed), func(ctx context.Context, i int) error {
		v := vectors[framed[i].entry.File.Path]
		set, err := t.readVector(ctx, v)
		framed[i].addDeleted(set)
		return inFile(v.File.Path, err)
	})
	if err != nil {
		return err
	}
	var positions []*entry
	for _, e := range deletes {
		if e.File.Content == positionContent && !e.isVector() && byPartition[e.partition.key] {
			positions = append(positions, e)
		}
	}
	if err := t.readPositions(ctx, positions, byPath); err != nil {
		return err
	}
	return t.checkDeleted()
}

func (e *entry) isVector() bool { return strings.EqualFold(e.File.Format, puffin) }

// appliesTo reports whether position deletes or a deletion vector may apply to rows of a file of data.
func (e *entry) appliesTo(data *entry) bool {
	return data.sequence <= e.sequence && data.partition.key == e.partition.key
}

// addDeleted adds deleted rows.
func (f *file) addDeleted(set *rows.Set) {
	if set == nil || set.Len() == 0 {
		return
	}
	if f.deleted == nil {
		f.deleted = &rows.Set{}
	}
	f.deleted.Merge(set)
	f.Deleted = f.deleted.Len()
}

// checkDeleted refuses deleted rows behind those of their files.
func (t *Table) checkDeleted() error {
	for _, f := range t.files {
		if f.deleted == nil {
			continue
		}
		for row := range f.deleted.Between(f.Rows, math.MaxInt64) {
			return inFile(f.Path, fmt.Errorf("row %d is deleted, the file has %d rows: %w", row, f.Rows, ErrDeletes))
		}
	}
	return nil
}

// vectors returns the deletion vectors by the files of data.
func (t *Table) vectors(deletes []*entry) (map[string]*entry, error) {
	vectors := map[string]*entry{}
	for _, e := range deletes {
		if e.File.Content != positionContent || !e.isVector() {
			continue
		}
		if e.File.Referenced == nil || e.File.Offset == nil || e.File.Length == nil || *e.File.Offset < 0 || *e.File.Length < 0 {
			return nil, inFile(e.File.Path, fmt.Errorf("the manifest has no file of data or no place of the deletion vector: %w", ErrMetadata))
		}
		if *e.File.Length > mostVector {
			return nil, inFile(e.File.Path, fmt.Errorf("a deletion vector of %d bytes, the limit is %d: %w", *e.File.Length, mostVector, ErrLimit))
		}
		if vectors[*e.File.Referenced] != nil {
			return nil, inFile(e.File.Path, fmt.Errorf("the file %s has two deletion vectors: %w", *e.File.Referenced, ErrMetadata))
		}
		vectors[*e.File.Referenced] = e
	}
	return vectors, nil
}

// readVector reads a deletion vector, a part of a Puffin file.
func (t *Table) readVector(ctx context.Context, e *entry) (*rows.Set, error) {
	if len(e.File.Key) > 0 {
		return nil, fmt.Errorf("it is encrypted: %w", ErrUnsupported)
	}
	name, err := t.fileName(e.File.Path)
	if err != nil {
		return nil, err
	}
	framed, err := t.from.ReadRange(ctx, name, *e.File.Offset, *e.File.Length, mostVector)
	if err != nil {
		return nil, storage.Needed(err, ErrDeletes)
	}
	data, err := rows.Unframe(framed)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, ErrDeletes)
	}
	set, err := rows.ParseVector(data)
	if err == nil && set.Len() != e.File.Rows {
		err = fmt.Errorf("it has %d rows, in the manifest %d", set.Len(), e.File.Rows)
	}
	if err != nil {
		return nil, fmt.Errorf("the deletion vector: %w: %w", err, ErrDeletes)
	}
	return set, nil
}

// readPositions adds the rows of files with position deletes to the files of data by their paths.
func (t *Table) readPositions(ctx context.Context, deletes []*entry, byPath map[string][]*file) error {
	if len(deletes) == 0 {
		return nil
	}
	engine, err := gpuframe.Open(gpuframe.Device("host"))
	if err != nil {
		return err
	}
	var mu sync.Mutex
	err = storage.Each(ctx, atATime, len(deletes), func(ctx context.Context, i int) error {
		byFile, err := t.positionsOf(ctx, engine, deletes[i], byPath)
		if err != nil {
			return inFile(deletes[i].File.Path, err)
		}
		mu.Lock()
		defer mu.Unlock()
		for f, set := range byFile {
			f.addDeleted(set)
		}
		return nil
	})
	return errors.Join(err, engine.Close())
}

var positionSchema = arrow.NewSchema([]arrow.Field{{Name: "file_path", Type: arrow.BinaryTypes.String}, {Name: "pos", Type: arrow.PrimitiveTypes.Int64}}, nil)

// positionsOf reads a file with position deletes: the rows of the files of data that it applies to.
func (t *Table) positionsOf(ctx context.Context, engine *gpuframe.Engine, e *entry, byPath map[string][]*file) (map[*file]*rows.Set, error) {
	if len(e.File.Key) > 0 {
		return nil, fmt.Errorf("it is encrypted: %w", ErrUnsupported)
	}
	if !strings.EqualFold(e.File.Format, "parquet") {
		return nil, fmt.Errorf("its format is %q, expected parquet or puffin: %w", e.File.Format, ErrUnsupported)
	}
	name, err := t.fileName(e.File.Path)
	if err != nil {
		return nil, err
	}
	query := t.from.TableFiles(engine, gpuframe.TableFiles{
		Name: "position deletes", Schema: positionSchema, Origins: []gpuframe.ColumnOrigin{{Name: "file_path", ID: pathID}, {Name: "pos", ID: positionID}},
		Files: []gpuframe.TableFile{{Path: name, Rows: e.File.Rows}},
	})
	byFile := map[*file]*rows.Set{}
	for frame, err := range query.Batches(ctx) {
		if err != nil {
			return nil, storage.Needed(err, ErrDeletes)
		}
		record, err := frame.Record(ctx)
		if err = errors.Join(err, frame.Release()); err != nil {
			return nil, err
		}
		positions, err := e.positionsIn(record, byPath)
		record.Release()
		if err != nil {
			return nil, err
		}
		for f, list := range positions {
			if byFile[f] == nil {
				byFile[f] = &rows.Set{}
			}
			slices.Sort(list)
			byFile[f].Merge(rows.Of(slices.Values(list)))
		}
	}
	return byFile, nil
}

// positionsIn returns the positions of a batch, by the files of data that the deletes apply to.
func (e *entry) positionsIn(record arrow.Record, byPath map[string][]*file) (map[*file][]int64, error) {
	names, ok := record.Column(0).(*array.String)
	positions, alsoOK := record.Column(1).(*array.Int64)
	if !ok || !alsoOK {
		return nil, fmt.Errorf("its columns are of %v and %v, expected text and integers: %w", record.Column(0).DataType(), record.Column(1).DataType(), ErrDeletes)
	}
	byFile := map[*file][]int64{}
	for row := range int(record.NumRows()) {
		if names.IsNull(row) || positions.IsNull(row) || positions.Value(row) < 0 {
			return nil, fmt.Errorf("a row has no file or no position: %w", ErrDeletes)
		}
		for _, f := range byPath[names.Value(row)] {
			if !e.appliesTo(f.entry) {
				continue
			}
			if position := positions.Value(row); position >= f.Rows {
				return nil, inFile(f.Path, fmt.Errorf("row %d is deleted, the file has %d rows: %w", position, f.Rows, ErrDeletes))
			}
			byFile[f] = append(byFile[f], positions.Value(row))
		}
	}
	return byFile, nil
}
