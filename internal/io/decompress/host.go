package decompress

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/golang/snappy"
	"github.com/klauspost/compress/gzip"
	"github.com/pierrec/lz4/v4"

	"github.com/gpuframe/gpuframe/internal/base/cancel"
	"github.com/gpuframe/gpuframe/internal/op"
)

// onHost decompresses pages by several goroutines.
func onHost(call *op.Call, decompress func(to, from []byte) Status, batch Batch) error {
	if err := call.WaitIdle(call.Context()); err != nil {
		return err
	}
	words, pagesErr := batch.Pages.Host()
	input, inputErr := batch.Input.Host()
	output, outputErr := batch.Output.Host()
	status, statusErr := batch.Status.Host()
	if err := errors.Join(pagesErr, inputErr, outputErr, statusErr); err != nil {
		return err
	}
	pages := pagesOf(words)
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(pages)) {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(pages)) && call.Context().Err() == nil; i = next.Add(1) - 1 {
				status[i] = uint32(pageOnHost(decompress, pages[i], input, output))
			}
		})
	}
	workers.Wait()
	if call.Context().Err() != nil {
		return cancel.Error(call.Context())
	}
	return nil
}

func pageOnHost(decompress func(to, from []byte) Status, p Page, input, output []byte) Status {
	from, fromOK := cut(input, p.Source, p.Compressed)
	to, toOK := cut(output, p.Target, p.Length)
	switch {
	case !fromOK || !toOK:
		return Outside
	case len(from) == 0 && len(to) == 0:
		return Complete
	}
	return decompress(to, from)
}

// mostBytes is the length of a page at most: nearly 2 GiB, because Parquet's lengths are signed.
const mostBytes = 0x7fff0000

// cut returns bytes of data, without capacity for more.
func cut(data []byte, offset uint64, length uint32) (part []byte, ok bool) {
	if length > mostBytes || offset > uint64(len(data)) || uint64(length) > uint64(len(data))-offset {
		return nil, false
	}
	end := offset + uint64(length)
	return data[offset:end:end], true
}

func copyOnHost(to, from []byte) Status {
	switch {
	case len(from) > len(to):
		return Long
	case len(from) < len(to):
		return Short
	}
	copy(to, from)
	return Complete
}

func snappyOnHost(to, from []byte) Status {
	// Decode allocates the claimed length if to is shorter.
	if length, err := snappy.DecodedLen(from); err != nil || length != len(to) {
		return Header
	}
	if _, err := snappy.Decode(to, from); err != nil {
		return Refused
	}
	return Complete
}

// gzipReaders has decoders of gzip.
var gzipReaders = sync.Pool{New: func() any { return new(gzip.Reader) }}

func gzipOnHost(to, from []byte) Status {
	reader := gzipReaders.Get().(*gzip.Reader)
	defer gzipReaders.Put(reader)
	if err := reader.Reset(bytes.NewReader(from)); err != nil {
		return Header
	}
	if _, err := io.ReadFull(reader, to); errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return Short
	} else if err != nil {
		return Refused
	}
	// The reader checks the end of the last member after its last byte.
	var more [1]byte
	switch n, err := reader.Read(more[:]); {
	case n > 0:
		return Long
	case err != io.EOF:
		return Refused
	}
	return Complete
}

func lz4OnHost(to, from []byte) Status {
	n, err := lz4.UncompressBlock(from, to)
	switch {
	case err != nil:
		return Refused
	case n != len(to):
		return Short
	}
	return Complete
}
