//go:build cgo && !(386 || arm || mips || mipsle)

package main

// #include <stdlib.h>
// #include "arrow_abi.h"
import "C"

import (
	"context"
	"fmt"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/arrowdev"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/memory"
)

// source is a producer's stream.
type source struct {
	stream   unsafe.Pointer
	onDevice C.int
}

// failed says why the producer's function returned another status than zero.
func (s source) failed(what string, status C.int) error {
	text := "it gave no reason"
	if reason := C.gpuframe_stream_error(s.stream, s.onDevice); reason != nil {
		text = C.GoString(reason)
	}
	return fmt.Errorf("the producer's stream: %s: error %d: %s: %w", what, status, text, column.ErrInvalid)
}

// read makes one table of all batches.
func (s source) read(ctx context.Context, m *memory.Manager) (*buffer.Buffer, error) {
	var tables []*buffer.Buffer
	defer func() {
		for _, b := range tables {
			_ = b.Release()
		}
	}()
	for {
		b, err := s.next(m)
		if err != nil {
			return nil, err
		}
		if b == nil {
			break
		}
		tables = append(tables, b)
	}
	if len(tables) == 1 {
		only := tables[0]
		return only, only.Retain()
	}
	return s.joined(ctx, m, tables)
}

// next returns the next batch, or nil at the end.
func (s source) next(m *memory.Manager) (*buffer.Buffer, error) {
	// The producer writes into C memory: it may be another Go.
	structs := C.calloc(1, C.DEVICE_ARRAY_BYTES+C.SCHEMA_BYTES)
	defer C.free(structs)
	schema := unsafe.Add(structs, C.DEVICE_ARRAY_BYTES)
	if status := C.gpuframe_stream_next(s.stream, s.onDevice, structs); status != 0 {
		return nil, s.failed("get_next", status)
	}
	in := incoming{array: (*deviceArray)(structs), schema: schema}
	if in.array.array[C.ARRAY_RELEASE/8] == 0 {
		return nil, nil
	}
	if s.onDevice == 0 {
		in.array = hostArray(structs)
	}
	if status := C.gpuframe_stream_schema(s.stream, s.onDevice, schema); status != 0 {
		in.drop()
		return nil, s.failed("get_schema", status)
	}
	return in.table(m)
}

// joined makes one table of several, or of none, by way of the host.
func (s source) joined(ctx context.Context, m *memory.Manager, tables []*buffer.Buffer) (*buffer.Buffer, error) {
	var records []arrow.Record
	defer func() {
		for _, record := range records {
			record.Release()
		}
	}()
	for _, b := range tables {
		record, err := b.Record(ctx)
		if err != nil {
			return nil, err
		}
		records = append(records, record)
	}
	if len(records) == 0 {
		empty, err := s.empty()
		if err != nil {
			return nil, err
		}
		records = append(records, empty)
	}
	return buffer.FromRecords(ctx, m, records, buffer.LoadOptions{Tag: "arrow"})
}

// empty returns a record of the stream's schema without rows.
func (s source) empty() (arrow.Record, error) {
	structs := C.calloc(1, C.SCHEMA_BYTES)
	defer C.free(structs)
	if status := C.gpuframe_stream_schema(s.stream, s.onDevice, structs); status != 0 {
		return nil, s.failed("get_schema", status)
	}
	schema, err := arrowdev.ImportSchema(structs)
	if err != nil {
		return nil, err
	}
	builder := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
	defer builder.Release()
	return builder.NewRecord(), nil
}
