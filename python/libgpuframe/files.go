//go:build cgo && !(386 || arm || mips || mipsle)

package libgpuframe

// #include <stdint.h>
import "C"

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/arrays/arrowipc"
	"github.com/gpuframe/gpuframe/memory"
)

// reading are the options of a read.
type reading struct {
	// Columns are the columns to read, or all columns if empty.
	Columns []string   `json:"columns"`
	CSV     csvOptions `json:"csv"`
}

// opener opens a file and decodes its records into memory of an allocator. The caller
// closes the io.Closer after it has released the reader.
type opener func(path string, r reading, allocator arrowmemory.Allocator) (array.RecordReader, io.Closer, error)

// read copies a file to the device of a manager. A GPU reads from pinned memory, which
// saves a copy. Errors begin with the name of the caller's function.
func read(function string, h C.uint64_t, path, options *C.char, out *C.uint64_t, open opener) *C.char {
	return guarded(func() (err error) {
		m, err := the[*memory.Manager](handle(h))
		if err != nil {
			return err
		}
		var r reading
		if err := decode(options, &r); err != nil {
			return err
		}
		b, err := r.read(m, C.GoString(path), open)
		if err != nil {
			err = fmt.Errorf("%s: %s: %w", function, C.GoString(path), ofFile(err))
		}
		return give(b, err, out)
	})
}

// errContents is the condition of a file with unexpected contents.
var errContents = errors.New("the file cannot be read")

// fileError is an error about a file's contents. It does not change the text of the
// error.
type fileError struct{ error }

func (e fileError) Is(target error) bool { return target == errContents }

func (e fileError) Unwrap() error { return e.error }

// ofFile marks an error without another condition as an error of the file's contents.
func ofFile(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) { // its text repeats the path
		err = path.Err
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
			return fmt.Errorf("%w: %w", errFile, err)
		}
	}
	if describe(err).Kind == unexplained {
		return fileError{err}
	}
	return err
}

func (r reading) read(m *memory.Manager, path string, open opener) (b *buffer.Buffer, err error) {
	var allocator arrowmemory.Allocator = arrowmemory.DefaultAllocator
	if m.Device().Kind() == device.CUDA {
		pinned := memory.NewPinnedAllocator(m.Device(), 0)
		defer func() {
			if err != nil {
				pinned.FreeAll() // a decoder that failed may have lost its buffers
			}
			err = errors.Join(err, pinned.Close())
		}()
		allocator = pinned
	}
	reader, closer, err := open(path, r, allocator)
	if err != nil {
		return nil, err
	}
	defer func() {
		reader.Release()
		if closing := closer.Close(); err == nil {
			err = closing
		}
	}()
	b, err = buffer.FromReader(context.Background(), m, reader, buffer.LoadOptions{Tag: "read"})
	if err != nil || len(r.Columns) == 0 {
		return b, err
	}
	selected, err := selectColumns(b, r.Columns) // in the requested order
	return selected, errors.Join(err, b.Release())
}

// gpuframe_read_parquet reads a Parquet file. The options are JSON: columns.
//
//export gpuframe_read_parquet
func gpuframe_read_parquet(h C.uint64_t, path, options *C.char, out *C.uint64_t) *C.char {
	return read("read_parquet", h, path, options, out, openParquet)
}

func openParquet(path string, r reading, allocator arrowmemory.Allocator) (array.RecordReader, io.Closer, error) {
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		err = &fs.PathError{Op: "open", Path: path, Err: syscall.EISDIR}
	}
	if err != nil {
		return nil, nil, err
	}
	parquetFile, err := file.OpenParquetFile(path, true)
	if err != nil {
		return nil, nil, err
	}
	records, err := parquetRecords(parquetFile, r.Columns, allocator)
	if err != nil {
		return nil, nil, errors.Join(err, parquetFile.Close())
	}
	return records, parquetFile, nil
}

func parquetRecords(parquetFile *file.Reader, columns []string, allocator arrowmemory.Allocator) (array.RecordReader, error) {
	leaves, err := leavesOf(parquetFile, columns)
	if err != nil {
		return nil, err
	}
	// Parallel is not set: columnsReader reads the columns in parallel.
	properties := pqarrow.ArrowReadProperties{BatchSize: 1 << 17}
	arrowFile, err := pqarrow.NewFileReader(parquetFile, properties, allocator)
	if err != nil {
		return nil, err
	}
	records, err := newColumnsReader(arrowFile, leaves)
	if err != nil {
		return nil, err
	}
	return &parquetReader{RecordReader: records, file: arrowFile, leaves: leaves}, nil
}

// leavesOf returns the leaves of the named columns. A column of structs has several. nil
// stands for all leaves.
func leavesOf(parquetFile *file.Reader, columns []string) (leaves []int, err error) {
	schema := parquetFile.MetaData().Schema
	for _, name := range columns {
		before := len(leaves)
		for leaf := range schema.NumColumns() {
			if schema.Column(leaf).ColumnPath()[0] == name {
				leaves = append(leaves, leaf)
			}
		}
		if len(leaves) == before {
			return nil, noColumnOf(name, topLevel(schema))
		}
	}
	return leaves, nil
}

// gpuframe_read_ipc reads an Arrow IPC file or stream. The options are JSON: columns.
//
//export gpuframe_read_ipc
func gpuframe_read_ipc(h C.uint64_t, path, options *C.char, out *C.uint64_t) *C.char {
	return read("read_ipc", h, path, options, out, openIPC)
}

func openIPC(path string, r reading, allocator arrowmemory.Allocator) (array.RecordReader, io.Closer, error) {
	opened, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	info, err := opened.Stat()
	if err == nil && info.IsDir() {
		err = &fs.PathError{Op: "open", Path: path, Err: syscall.EISDIR}
	}
	if err != nil {
		return nil, nil, errors.Join(err, opened.Close())
	}
	reader, err := arrowipc.Open(opened, info.Size(), arrowipc.Options{Allocator: allocator})
	if err != nil {
		return nil, nil, errors.Join(err, opened.Close())
	}
	return reader, opened, nil
}
