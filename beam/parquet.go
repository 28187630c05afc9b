package gpubeam

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/fileio"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/local" // paths without a scheme
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	_ "github.com/gpuframe/gpuframe/internal/io/lz4blocks" // files of LZ4
)

// rowsOfBatch is the most rows of a batch that is read from a file.
const rowsOfBatch = 1 << 20

// ReadParquet reads the Parquet files that match a pattern, through the file systems of Beam. Each
// row group is a [Batch], or several if it has more than 2²⁰ rows. A worker holds a
// whole file in host memory while it reads it. Paths without a scheme are local; other schemes
// need the import of their package, such as …/io/filesystem/gcs.
//
// # Errors
//
// An unknown scheme is an error. On a worker, an unreadable file is a [*StageError] that names it.
func ReadParquet(s beam.Scope, pattern string) (beam.PCollection, error) {
	batches, err := readParquet(s.Scope("gpubeam.ReadParquet"), pattern)
	if err != nil {
		return beam.PCollection{}, fmt.Errorf("gpubeam: ReadParquet %q: %w", pattern, err)
	}
	return batches, nil
}

func readParquet(s beam.Scope, pattern string) (none beam.PCollection, err error) {
	if err := checkPath(pattern); err != nil {
		return none, err
	}
	files := fileio.ReadMatches(s, fileio.MatchFiles(s, pattern, fileio.MatchEmptyDisallow()), fileio.ReadUncompressed())
	batches, err := beam.TryParDo(s, &readFn{}, files)
	if err != nil {
		return none, err
	}
	return beam.TryReshuffle(s, batches[0])
}

// checkPath checks that a path has a known scheme.
func checkPath(path string) error {
	if path == "" {
		return fmt.Errorf("the path is empty: %w", ErrOptions)
	}
	fs, err := filesystem.New(context.Background(), path)
	if err != nil {
		return err
	}
	return fs.Close()
}

func init() {
	register.DoFn3x1[context.Context, fileio.ReadableFile, func(Batch), error](&readFn{})
	register.DoFn3x1[context.Context, Batch, func(int64, Batch), error](&shardFn{})
	register.DoFn4x1[context.Context, int64, func(*Batch) bool, func(string), error](&writeFn{})
	register.Emitter1[string]()
}

// readFn reads Parquet files.
type readFn struct{}

// ProcessElement reads a file.
func (f *readFn) ProcessElement(ctx context.Context, from fileio.ReadableFile, emit func(Batch)) error {
	if err := readFile(ctx, from, emit); err != nil {
		s := stage{Name: "ReadParquet"}
		return s.failed(noPartition, 1, fmt.Errorf("%s: %w", from.Metadata.Path, err))
	}
	return nil
}

func readFile(ctx context.Context, from fileio.ReadableFile, emit func(Batch)) (err error) {
	data, err := from.Read(ctx)
	if err != nil {
		return err
	}
	defer func() {
		if r := recover(); r != nil { // of arrow-go, for malformed pages
			err = fmt.Errorf("malformed Parquet: %v", r)
		}
	}()
	parsed, err := file.NewParquetReader(bytes.NewReader(data))
	if err != nil {
		return err
	}
	reader, err := pqarrow.NewFileReader(parsed, pqarrow.ArrowReadProperties{BatchSize: rowsOfBatch}, allocator)
	if err != nil {
		return err
	}
	if parsed.NumRowGroups() == 0 {
		schema, err := reader.Schema()
		if err == nil {
			emit(Batch{emptyRecord(schema)})
		}
		return err
	}
	for group := range parsed.NumRowGroups() {
		records, err := reader.GetRecordReader(ctx, nil, []int{group})
		if err != nil {
			return err
		}
		for records.Next() {
			emit(NewBatch(records.Record()))
		}
		err = records.Err()
		records.Release()
		if err != nil && err != io.EOF {
			return err
		}
	}
	return nil
}

// WriteParquet writes the rows of all batches to Parquet files, through the file systems of Beam:
// prefix-00000-of-00004.parquet and so on, of which those without a batch are left out. The
// result is the collection of their paths. A file gets its name when it is complete, if the file
// system can rename files; one of that name is replaced. Which rows are in which file is not specified.
//
// # Errors
//
// An unknown scheme, and a number of files below 1, are an error. On a worker, a file that cannot
// be written is a [*StageError] that names it.
func WriteParquet(s beam.Scope, prefix string, files int, batches beam.PCollection) (beam.PCollection, error) {
	written, err := writeParquet(s.Scope("gpubeam.WriteParquet"), prefix, files, batches)
	if err != nil {
		return beam.PCollection{}, fmt.Errorf("gpubeam: WriteParquet %q: %w", prefix, err)
	}
	return written, nil
}

func writeParquet(s beam.Scope, prefix string, files int, batches beam.PCollection) (none beam.PCollection, err error) {
	if files < 1 {
		return none, fmt.Errorf("the number of files is %d, expected 1 or more: %w", files, ErrOptions)
	}
	if err := checkPath(prefix); err != nil {
		return none, err
	}
	if err := checkInput(batches); err != nil {
		return none, err
	}
	numbered, err := beam.TryParDo(s, &shardFn{Files: int64(files)}, batches)
	if err != nil {
		return none, err
	}
	grouped, err := beam.TryGroupByKey(s, numbered[0])
	if err != nil {
		return none, err
	}
	written, err := beam.TryParDo(s, &writeFn{Prefix: prefix, Files: int64(files)}, grouped)
	if err != nil {
		return none, err
	}
	return written[0], nil
}

// shardFn deals the batches of a bundle to files.
type shardFn struct {
	Files int64
	next  int64
}

// ProcessElement gives a batch the number of a file.
func (f *shardFn) ProcessElement(_ context.Context, b Batch, emit func(int64, Batch)) error {
	emit(f.next%f.Files, b)
	f.next++
	return nil
}

// writeFn writes files.
type writeFn struct {
	Prefix string
	Files  int64
}

// ProcessElement writes a file, and emits its path.
func (f *writeFn) ProcessElement(ctx context.Context, number int64, batches func(*Batch) bool, emit func(string)) error {
	path := fmt.Sprintf("%s-%05d-of-%05d.parquet", f.Prefix, number, f.Files)
	if err := writeFile(ctx, path, batches); err != nil {
		s := stage{Name: "WriteParquet"}
		return s.failed(number, 1, fmt.Errorf("%s: %w", path, err))
	}
	emit(path)
	return nil
}

// writeFile writes a file under another name, which it then changes.
func writeFile(ctx context.Context, path string, batches func(*Batch) bool) (err error) {
	fs, err := filesystem.New(ctx, path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, fs.Close()) }()
	unfinished := path
	remover, removes := fs.(filesystem.Remover)
	if _, renames := fs.(filesystem.Renamer); renames && removes {
		unfinished += ".unfinished-" + rand.Text()
	}
	to, err := fs.OpenWrite(ctx, unfinished)
	if err != nil {
		return err
	}
	if err = errors.Join(writeBatches(to, batches), to.Close()); err != nil {
		if unfinished != path {
			err = errors.Join(err, remover.Remove(ctx, unfinished))
		}
		return err
	}
	if unfinished == path {
		return nil
	}
	return filesystem.Rename(ctx, fs, unfinished, path)
}

// writeBatches writes batches of one schema as Parquet, compressed by snappy.
func writeBatches(to io.Writer, batches func(*Batch) bool) error {
	var b Batch
	if !batches(&b) {
		return fmt.Errorf("there are no batches: %w", ErrBatch)
	}
	first := b.record.Schema()
	properties := parquet.NewWriterProperties(parquet.WithCompression(compress.Codecs.Snappy))
	// The writer does not close the file: its owner does, and reports the error.
	w, err := pqarrow.NewFileWriter(first, struct{ io.Writer }{to}, properties, pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema()))
	if err != nil {
		return err
	}
	for {
		if !sameTypes(first, b.record.Schema()) {
			return fmt.Errorf("batches have different schemas, %v and %v: %w", first, b.record.Schema(), ErrBatch)
		}
		if b.record.NumRows() > 0 {
			if err := w.Write(b.record); err != nil {
				return err
			}
		}
		if !batches(&b) {
			return w.Close()
		}
	}
}
