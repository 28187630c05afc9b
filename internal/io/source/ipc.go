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
	"github.com/gpuframe/gpuframe/internal/arrays/arrowipc"
)

// IPC is a source of Arrow IPC files and streams: see [Files.Parquet] for paths, folders and
// partitions. Every file has the same schema.
func (f Files) IPC(list []string) (Source, error) {
	return f.streams(ipcFormat{}, list, []string{".arrow", ".arrows", ".ipc", ".feather"})
}

// IPCReader is a source of one Arrow IPC stream or file in r, which can be read once. A
// file, unlike a stream, is read into memory. The name stands for its path.
func IPCReader(name string, r io.Reader) (Source, error) {
	return newStream(ipcFormat{}, name, r)
}

type ipcFormat struct{}

func (ipcFormat) name() string { return "arrow" }

func (ipcFormat) pinned() bool { return true }

// learn reads the schema of the first file.
func (ipcFormat) learn(files beginnings) (decoder, error) {
	var d ipcDecoder
	return &d, files.open(0, func(file *stream) error {
		reader, err := ipcReader(file, arrowmemory.DefaultAllocator)
		if err != nil {
			return err
		}
		defer reader.Release()
		d.all = plainSchema(reader.Schema())
		return nil
	})
}

// ipcDecoder decodes files of one schema.
type ipcDecoder struct{ all *arrow.Schema }

func (d *ipcDecoder) schema() *arrow.Schema { return d.all }

func (d *ipcDecoder) decode(file *stream, _ []string, _ int, allocator arrowmemory.Allocator) (array.RecordReader, error) {
	reader, err := ipcReader(file, allocator)
	if err != nil {
		return nil, err
	}
	reader = withoutViews(reader)
	if has := reader.Schema(); !has.Equal(d.all) {
		reader.Release()
		return nil, fmt.Errorf("its schema is %v, that of the first file %v: %w", has, d.all, buffer.ErrSchema)
	}
	return reader, nil
}

// ipcReader reads a stream, or a file by its magic bytes.
func ipcReader(file *stream, allocator arrowmemory.Allocator) (array.RecordReader, error) {
	options := arrowipc.Options{Allocator: allocator}
	if file.at != nil {
		return arrowipc.Open(file.at, file.at.Size(), options)
	}
	text := bufio.NewReaderSize(file, 1<<16)
	if magic, err := text.Peek(len(ipc.Magic)); err == nil && bytes.Equal(magic, ipc.Magic) {
		all, err := io.ReadAll(text)
		if err != nil {
			return nil, err
		}
		return arrowipc.Open(bytes.NewReader(all), int64(len(all)), options)
	}
	return arrowipc.Stream(text, options)
}
