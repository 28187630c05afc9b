package arrowipc

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
)

// Options are the options of a reader.
type Options struct {
	// Allocator has the memory of records. Nil is the allocator of Go's memory.
	//
	// After an error the buffers of the record that could not be read may be lost: an
	// allocator of memory that Go does not collect frees them then.
	Allocator arrowmemory.Allocator
	// MostBuffer is the length of the largest buffer of a record. Zero is [MostBuffer] for
	// streams, and for files no more than 64 times the length of the file.
	MostBuffer int
	// Limits bound the schema.
	Limits Limits
}

func (o Options) bounded(most int) Bounded {
	if o.MostBuffer > 0 {
		most = o.MostBuffer
	}
	if o.Allocator == nil {
		o.Allocator = arrowmemory.DefaultAllocator
	}
	return Bounded{o.Allocator, most}
}

// Stream returns a reader of the records of a stream. It reads the schema.
//
// # Ownership
//
// The caller releases the reader. The reader uses r until then and does not close it.
//
// # Errors
//
// An error of r is returned as it is, and arrow.ErrNotImplemented reports contents that arrow-go
// cannot read. All other errors wrap [ErrContents].
//
// # Thread safety
//
// Retain and Release may be called on any goroutine, the other methods on one at a time.
func Stream(r io.Reader, o Options) (array.RecordReader, error) {
	return stream(r, o, o.bounded(MostBuffer))
}

func stream(r io.Reader, o Options, allocator Bounded) (array.RecordReader, error) {
	from := &source{from: r}
	messages := &frames{from: from, limits: o.Limits}
	reader, err := ipc.NewReader(messages, ipc.WithAllocator(framed{allocator, messages}))
	if err != nil {
		return nil, from.cause(err)
	}
	return &streamRecords{Reader: reader, from: from}, nil
}

// Open returns a reader of the records of a file, or of a stream in a file, by its first
// bytes. See [Stream] for ownership and errors.
func Open(r io.ReaderAt, size int64, o Options) (array.RecordReader, error) {
	at := io.NewSectionReader(r, 0, size)
	// No more than a file of its length can be compressed from.
	allocator := o.bounded(int(min(max(size, 1<<20), MostBuffer>>6) << 6))
	magic := make([]byte, len(ipc.Magic))
	if n, err := at.ReadAt(magic, 0); n < len(magic) || !bytes.Equal(magic, ipc.Magic) {
		if err != nil && err != io.EOF {
			return nil, err
		}
		return stream(bufio.NewReaderSize(at, 1<<20), o, allocator)
	}
	from := &sourceAt{from: at}
	section := io.NewSectionReader(from, 0, size)
	checks, err := checkFile(section, size, o.Limits)
	if err != nil {
		return nil, from.cause(err)
	}
	reader, err := openFile(section, allocator)
	if err != nil {
		return nil, from.cause(err)
	}
	records := &fileRecords{reader: reader, checks: checks, from: from}
	records.references.Store(1)
	return records, nil
}

func openFile(at *io.SectionReader, allocator Bounded) (reader *ipc.FileReader, err error) {
	defer Recovered(&err)
	return ipc.NewFileReader(at, ipc.WithAllocator(allocator))
}

// failure is an error of the reader that a caller gave.
type failure struct{ err error }

func (f *failure) note(err error) {
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, ErrContents) {
		f.err = err
	}
}

// cause returns the error of the caller's reader, or err, which is about its contents.
func (f *failure) cause(err error) error {
	if f.err != nil && !errors.Is(err, f.err) {
		return f.err
	}
	if f.err != nil {
		return err
	}
	return damaged(err)
}

type source struct {
	from io.Reader
	failure
}

// Read implements io.Reader.
func (s *source) Read(p []byte) (int, error) {
	n, err := s.from.Read(p)
	s.note(err)
	return n, err
}

type sourceAt struct {
	from io.ReaderAt
	failure
}

// ReadAt implements io.ReaderAt.
func (s *sourceAt) ReadAt(p []byte, offset int64) (int, error) {
	n, err := s.from.ReadAt(p, offset)
	s.note(err)
	return n, err
}

// streamRecords are the records of a stream. arrow-go turns panics into errors.
type streamRecords struct {
	*ipc.Reader
	from *source
}

// Err implements array.RecordReader.
func (r *streamRecords) Err() error { return r.from.cause(r.Reader.Err()) }

// fileRecords are the records of a file.
type fileRecords struct {
	reader     *ipc.FileReader
	checks     *fileChecks
	from       *sourceAt
	references atomic.Int64
	next       int
	current    arrow.Record
	err        error
}

// Retain implements array.RecordReader.
func (r *fileRecords) Retain() { r.references.Add(1) }

// Release implements array.RecordReader.
func (r *fileRecords) Release() {
	if r.references.Add(-1) == 0 {
		r.drop()
		r.reader.Close() // it has no errors
	}
}

func (r *fileRecords) drop() {
	if r.current != nil {
		r.current.Release()
		r.current = nil
	}
}

// Schema implements array.RecordReader.
func (r *fileRecords) Schema() *arrow.Schema { return r.reader.Schema() }

// Next implements array.RecordReader.
func (r *fileRecords) Next() bool {
	r.drop()
	if r.err != nil {
		return false
	}
	if r.current, r.err = r.record(); r.err != nil {
		r.err = r.from.cause(r.err)
	}
	return r.current != nil
}

// record returns the next record, or nil after the last one.
func (r *fileRecords) record() (record arrow.Record, err error) {
	defer Recovered(&err)
	if r.next >= r.reader.NumRecords() {
		return nil, nil
	}
	if err := r.checks.record(r.next); err != nil {
		return nil, err
	}
	r.next++
	return r.reader.RecordAt(r.next - 1)
}

// Record implements array.RecordReader.
func (r *fileRecords) Record() arrow.Record { return r.current }

// Err implements array.RecordReader.
func (r *fileRecords) Err() error { return r.err }
