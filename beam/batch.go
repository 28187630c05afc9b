package gpubeam

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/gpuframe/gpuframe/internal/arrays/arrowipc"
)

// allocator allocates the records of batches. The garbage collector frees them.
var allocator = memory.DefaultAllocator

// ErrBatch is wrapped by errors about elements that are no batches.
var ErrBatch = errors.New("invalid batch")

// Batch is an element of a collection: rows in host memory. It is immutable and safe for
// concurrent use. The zero value has no schema and cannot be encoded.
type Batch struct {
	record arrow.Record
}

// NewBatch returns a batch of the rows of a record.
//
// # Ownership
//
// The batch keeps a reference to the record that is never released, so the record must be
// allocated by Go, as by memory.DefaultAllocator.
func NewBatch(record arrow.Record) Batch {
	if record != nil {
		record.Retain()
	}
	return Batch{record}
}

// Record returns the rows, borrowed, or nil for the zero Batch.
func (b Batch) Record() arrow.Record { return b.record }

func init() {
	beam.RegisterCoder(reflect.TypeFor[Batch](), encodeBatch, decodeBatch)
}

// encodeBatch returns an Arrow IPC stream with one record.
func encodeBatch(b Batch) ([]byte, error) {
	if b.record == nil {
		return nil, fmt.Errorf("gpubeam: encode a batch: it is the zero Batch: make it with NewBatch: %w", ErrBatch)
	}
	var to bytes.Buffer
	w := ipc.NewWriter(&to, ipc.WithSchema(b.record.Schema()), ipc.WithAllocator(allocator))
	if err := errors.Join(w.Write(b.record), w.Close()); err != nil {
		return nil, fmt.Errorf("gpubeam: encode a batch of %d rows: %w", b.record.NumRows(), err)
	}
	return to.Bytes(), nil
}

// decodeBatch returns the record of a stream. It does not keep the bytes.
func decodeBatch(encoded []byte) (b Batch, err error) {
	defer func() {
		if r := recover(); r != nil { // of arrow-go, for malformed metadata
			b, err = Batch{}, malformed(len(encoded), fmt.Errorf("%v", r))
		}
	}()
	from := bytes.NewReader(encoded)
	r, err := arrowipc.Stream(from, arrowipc.Options{Allocator: allocator})
	if err != nil {
		return Batch{}, malformed(len(encoded), err)
	}
	defer r.Release()
	if !r.Next() {
		return Batch{}, malformed(len(encoded), errors.Join(errors.New("no record"), r.Err()))
	}
	batch := NewBatch(r.Record())
	if r.Next() || r.Err() != nil || from.Len() > 0 {
		return Batch{}, malformed(len(encoded), errors.Join(errors.New("more than one record"), r.Err()))
	}
	return batch, nil
}

func malformed(length int, err error) error {
	return fmt.Errorf("gpubeam: decode a batch of %d bytes: expected an Arrow IPC stream with one record: %w: %w", length, err, ErrBatch)
}

// emptyRecord returns a record of a schema without rows.
func emptyRecord(schema *arrow.Schema) arrow.Record {
	b := array.NewRecordBuilder(allocator, schema)
	defer b.Release()
	return b.NewRecord()
}
