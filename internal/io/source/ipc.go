package source

import (
	"bufio"
	"bytes"
	"encoding/binary"
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

// streamWithin returns the stream of an IPC file, between its magic bytes and its footer: an object is read from the
// beginning to the end, because a request for each record would be a wait for each. Records have the order of the file, also
// if the footer has another one. A stream stays as it is.
func streamWithin(at *io.SectionReader) (io.Reader, error) {
	const before, behind = 8, 10 // magic bytes, padded; the length of the footer and magic bytes
	var magic [before]byte
	if _, err := at.ReadAt(magic[:], 0); err != nil && err != io.EOF {
		return nil, err
	}
	if !bytes.HasPrefix(magic[:], ipc.Magic) {
		return at, nil
	}
	var tail [behind]byte
	if at.Size() < before+behind {
		return nil, fmt.Errorf("the file has %d bytes, expected a footer: %w", at.Size(), ErrContents)
	}
	if _, err := at.ReadAt(tail[:], at.Size()-behind); err != nil {
		return nil, err
	}
	end := at.Size() - behind - int64(binary.LittleEndian.Uint32(tail[:]))
	if !bytes.Equal(tail[4:], ipc.Magic) || end < before {
		return nil, fmt.Errorf("the file ends without a footer: %w", ErrContents)
	}
	return io.NewSectionReader(at, before, end-before), nil
}

// ipcReader reads a stream, or a file by its magic bytes.
func ipcReader(file *stream, allocator arrowmemory.Allocator) (array.RecordReader, error) {
	options := arrowipc.Options{Allocator: allocator}
	if file.at != nil && !file.forward {
		return arrowipc.Open(file.at, file.at.Size(), options)
	}
	if file.at != nil {
		within, err := streamWithin(file.at)
		if err != nil {
			return nil, err
		}
		return arrowipc.Stream(bufio.NewReaderSize(within, 1<<16), options)
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
