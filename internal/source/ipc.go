package source

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/buffer"
)

// IPC is a source of Arrow IPC files and streams: see [Parquet] for paths, folders and
// partitions. Every file has the same schema.
func IPC(list []string) (Source, error) {
	return newStreams(ipcFormat{}, list, []string{".arrow", ".arrows", ".ipc", ".feather"})
}

// IPCReader is a source of one Arrow IPC stream or file in r, which can be read once. A
// file, unlike a stream, is read into memory. The name stands for its path.
func IPCReader(name string, r io.Reader) (Source, error) {
	return newStream(ipcFormat{}, name, r)
}

type ipcFormat struct{}

func (ipcFormat) name() string { return "arrow" }

func (ipcFormat) pinned() bool { return true }

func (ipcFormat) schema(file *stream) (*arrow.Schema, error) {
	reader, err := ipcReader(file, arrowmemory.DefaultAllocator)
	if err != nil {
		return nil, err
	}
	defer reader.Release()
	return reader.Schema(), nil
}

func (ipcFormat) decode(file *stream, schema *arrow.Schema, _ []string, _ int, allocator arrowmemory.Allocator) (array.RecordReader, error) {
	reader, err := ipcReader(file, allocator)
	if err != nil {
		return nil, err
	}
	if has := reader.Schema(); !has.Equal(schema) {
		reader.Release()
		return nil, fmt.Errorf("its schema is %v, that of the first file %v: %w", has, schema, buffer.ErrSchema)
	}
	return reader, nil
}

// ipcReader reads a stream, or a file by its magic bytes.
func ipcReader(file *stream, allocator arrowmemory.Allocator) (array.RecordReader, error) {
	allocator = bounded{allocator}
	if file.at != nil {
		return ipcAt(file.at, allocator)
	}
	text := bufio.NewReaderSize(file, 1<<16)
	if magic, err := text.Peek(len(ipc.Magic)); err == nil && bytes.Equal(magic, ipc.Magic) {
		all, err := io.ReadAll(text)
		if err != nil {
			return nil, err
		}
		return ipcFile(bytes.NewReader(all), allocator)
	}
	return ipc.NewReader(text, ipc.WithAllocator(allocator))
}

func ipcAt(at *io.SectionReader, allocator arrowmemory.Allocator) (array.RecordReader, error) {
	magic := make([]byte, len(ipc.Magic))
	if n, err := at.ReadAt(magic, 0); n < len(magic) || !bytes.Equal(magic, ipc.Magic) {
		if err != nil && err != io.EOF {
			return nil, err
		}
		return ipc.NewReader(bufio.NewReaderSize(at, 1<<20), ipc.WithAllocator(allocator))
	}
	return ipcFile(at, allocator)
}

func ipcFile(at ipc.ReadAtSeeker, allocator arrowmemory.Allocator) (array.RecordReader, error) {
	reader, err := ipc.NewFileReader(at, ipc.WithAllocator(allocator))
	if err != nil {
		return nil, err
	}
	return &ipcRecords{reader: reader}, nil
}

// ipcRecords reads the records of an Arrow IPC file.
type ipcRecords struct {
	reader  *ipc.FileReader
	next    int
	current arrow.Record
	err     error
}

func (r *ipcRecords) Retain() {}

func (r *ipcRecords) Release() {
	r.drop()
	if err := r.reader.Close(); r.err == nil {
		r.err = err
	}
}

func (r *ipcRecords) drop() {
	if r.current != nil {
		r.current.Release()
		r.current = nil
	}
}

func (r *ipcRecords) Schema() *arrow.Schema { return r.reader.Schema() }

func (r *ipcRecords) Next() bool {
	r.drop()
	if r.err != nil || r.next >= r.reader.NumRecords() {
		return false
	}
	r.current, r.err = r.reader.RecordAt(r.next)
	r.next++
	return r.err == nil
}

func (r *ipcRecords) Record() arrow.Record { return r.current }

func (r *ipcRecords) Err() error { return r.err }

// mostAllocated is the length of one buffer of a file at most.
const mostAllocated = min(math.MaxInt, 16<<30)

// bounded is an allocator that panics for buffers that no file has: their length comes
// from a damaged file. The panic becomes an error where decoders are called.
type bounded struct{ arrowmemory.Allocator }

func (b bounded) Allocate(size int) []byte {
	checkSize(size)
	return b.Allocator.Allocate(size)
}

func (b bounded) Reallocate(size int, old []byte) []byte {
	checkSize(size)
	return b.Allocator.Reallocate(size, old)
}

func checkSize(size int) {
	if size < 0 || size > mostAllocated {
		panic(fmt.Sprintf("a buffer of %d bytes", size))
	}
}
