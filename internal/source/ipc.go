package source

import (
	"bufio"
	"bytes"
	"fmt"
	"io"

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
	if file.at != nil {
		return ipcAt(file.at, bounded{allocator, mostFor(file.at)})
	}
	text := bufio.NewReaderSize(file, 1<<16)
	if magic, err := text.Peek(len(ipc.Magic)); err == nil && bytes.Equal(magic, ipc.Magic) {
		all, err := io.ReadAll(text)
		if err != nil {
			return nil, err
		}
		at := io.NewSectionReader(bytes.NewReader(all), 0, int64(len(all)))
		return ipcFile(at, bounded{allocator, mostFor(at)})
	}
	return ipcStream(text, bounded{allocator, mostAllocated})
}

func ipcStream(stream io.Reader, allocator bounded) (array.RecordReader, error) {
	whole, err := checkFirstMessage(stream)
	if err != nil {
		return nil, err
	}
	messages := &frames{from: whole}
	return ipc.NewReader(messages, ipc.WithAllocator(framed{allocator, messages}))
}

// mostFor returns the length of one buffer of a file at most: more than a file of its
// length can be compressed from.
func mostFor(at *io.SectionReader) int {
	return int(min(max(at.Size(), 1<<20), mostAllocated>>6) << 6)
}

func ipcAt(at *io.SectionReader, allocator bounded) (array.RecordReader, error) {
	magic := make([]byte, len(ipc.Magic))
	if n, err := at.ReadAt(magic, 0); n < len(magic) || !bytes.Equal(magic, ipc.Magic) {
		if err != nil && err != io.EOF {
			return nil, err
		}
		return ipcStream(bufio.NewReaderSize(at, 1<<20), allocator)
	}
	return ipcFile(at, allocator)
}

func ipcFile(at *io.SectionReader, allocator arrowmemory.Allocator) (array.RecordReader, error) {
	if err := checkFooter(at, at.Size()); err != nil {
		return nil, err
	}
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
