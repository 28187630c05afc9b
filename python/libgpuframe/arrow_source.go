//go:build cgo && !(386 || arm || mips || mipsle)

package libgpuframe

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
	"github.com/gpuframe/gpuframe/internal/arrays/hostarray"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

// source is a producer's stream.
type source struct {
	stream   unsafe.Pointer
	onDevice C.int
}

// failed returns the producer's reason for a status that is not zero.
func (s source) failed(call string, status C.int) error {
	text := "it gave no reason"
	if reason := C.gpuframe_stream_error(s.stream, s.onDevice); reason != nil {
		text = C.GoString(reason)
	}
	return fmt.Errorf("the producer's stream: %s: error %d: %s: %w", call, status, text, column.ErrInvalid)
}

// read makes one table of all batches. Batches in the host's memory are copied to the
// target in one transfer; batches on a GPU are concatenated there.
func (s source) read(ctx context.Context, t target) (*buffer.Buffer, error) {
	batches, err := s.batches()
	defer dropAll(batches)
	if err != nil {
		return nil, err
	}
	switch {
	case len(batches) == 0:
		return s.empty(ctx, t.manager)
	case len(batches) == 1:
		m, err := t.managerFor(batches[0])
		if err != nil {
			return nil, err
		}
		return batches[0].table(m)
	}
	for _, in := range batches {
		if !in.onHost() {
			m, err := t.managerFor(in)
			if err != nil {
				return nil, err
			}
			return joinTables(ctx, m, batches)
		}
	}
	return joinRecords(ctx, t.manager, batches)
}

// batches reads all batches. The caller drops them and frees their schemas.
func (s source) batches() (all []incoming, err error) {
	for {
		in, err := s.next()
		if err != nil || in.array == nil {
			return all, err
		}
		all = append(all, in)
	}
}

// next returns the next batch, or an empty one at the end.
func (s source) next() (incoming, error) {
	// The producer writes into C memory, because its code may be another Go program.
	array := C.calloc(1, C.DEVICE_ARRAY_BYTES)
	defer C.free(array)
	if status := C.gpuframe_stream_next(s.stream, s.onDevice, array); status != 0 {
		return incoming{}, s.failed("get_next", status)
	}
	in := incoming{array: new(deviceArray)}
	if s.onDevice == 0 {
		in.array = hostArray(array)
	} else {
		*in.array = *(*deviceArray)(array)
	}
	if in.array.array[C.ARRAY_RELEASE/8] == 0 {
		return incoming{}, nil
	}
	in.schema = C.calloc(1, C.SCHEMA_BYTES)
	if status := C.gpuframe_stream_schema(s.stream, s.onDevice, in.schema); status != 0 {
		in.drop()
		C.free(in.schema)
		return incoming{}, s.failed("get_schema", status)
	}
	return in, nil
}

// joinRecords copies batches of the host to a manager's device in one transfer.
func joinRecords(ctx context.Context, m *memory.Manager, batches []incoming) (*buffer.Buffer, error) {
	var records []arrow.Record
	defer func() {
		for _, record := range records {
			record.Release()
		}
	}()
	for number, in := range batches {
		record, err := arrowdev.ImportRecord(unsafe.Pointer(in.array), in.schema)
		if err != nil {
			return nil, fmt.Errorf("batch %d: %w", number, err)
		}
		records = append(records, record)
	}
	return buffer.FromRecords(ctx, m, records, buffer.LoadOptions{Tag: "arrow"})
}

// joinTables copies batches to a manager's device, unless they are there, and
// concatenates them.
func joinTables(ctx context.Context, m *memory.Manager, batches []incoming) (*buffer.Buffer, error) {
	var tables []*buffer.Buffer
	defer func() {
		for _, table := range tables {
			_ = table.Release() // a separate reference
		}
	}()
	for number, in := range batches {
		table, err := in.table(m)
		if err != nil {
			return nil, fmt.Errorf("batch %d: %w", number, err)
		}
		tables = append(tables, table)
	}
	return selection.Concat(ctx, tables, kernels.Options{Manager: m, Tag: "arrow"})
}

// empty makes a table with the stream's schema and without rows.
func (s source) empty(ctx context.Context, m *memory.Manager) (*buffer.Buffer, error) {
	structs := C.calloc(1, C.SCHEMA_BYTES)
	defer C.free(structs)
	if status := C.gpuframe_stream_schema(s.stream, s.onDevice, structs); status != 0 {
		return nil, s.failed("get_schema", status)
	}
	schema, err := arrowdev.ImportSchema(structs)
	if err != nil {
		return nil, err
	}
	record, err := hostarray.EmptyRecord(schema)
	if err != nil {
		return nil, err
	}
	defer record.Release()
	return buffer.FromRecords(ctx, m, []arrow.Record{record}, buffer.LoadOptions{Tag: "arrow"})
}

// readColumn makes one column of all batches. They may be of any type.
func (s source) readColumn(ctx context.Context, t target) (*column.Column, arrow.Field, error) {
	field, err := s.field()
	if err != nil {
		return nil, field, err
	}
	batches, err := s.batches()
	defer dropAll(batches)
	if err != nil {
		return nil, field, err
	}
	if len(batches) == 1 {
		m, err := t.managerFor(batches[0])
		if err != nil {
			return nil, field, err
		}
		c, _, err := batches[0].column(m)
		return c, field, err
	}
	for _, in := range batches {
		if !in.onHost() {
			m, err := t.managerFor(in)
			if err != nil {
				return nil, field, err
			}
			c, err := joinColumns(ctx, m, batches)
			return c, field, err
		}
	}
	c, err := joinArrays(ctx, t.manager, field, batches)
	return c, field, err
}

// joinArrays copies batches of the host to a manager's device as one column.
func joinArrays(ctx context.Context, m *memory.Manager, field arrow.Field, batches []incoming) (*column.Column, error) {
	var arrays []arrow.Array
	defer func() {
		for _, each := range arrays {
			each.Release()
		}
	}()
	for number, in := range batches {
		values, err := arrowdev.ImportArray(unsafe.Pointer(in.array), in.schema)
		if err != nil {
			return nil, fmt.Errorf("batch %d: %w", number, err)
		}
		arrays = append(arrays, values)
	}
	if len(arrays) == 0 {
		arrays = append(arrays, array.MakeArrayOfNull(arrowmemory.DefaultAllocator, field.Type, 0))
	}
	columns, err := column.FromArrays(ctx, m, [][]arrow.Array{arrays}, column.UploadOptions{Tag: "arrow"})
	if err != nil {
		return nil, err
	}
	return columns[0], nil
}

// joinColumns is joinTables for columns.
func joinColumns(ctx context.Context, m *memory.Manager, batches []incoming) (*column.Column, error) {
	var columns []*column.Column
	defer func() { releaseColumns(columns) }()
	for number, in := range batches {
		c, _, err := in.column(m)
		if err != nil {
			return nil, fmt.Errorf("batch %d: %w", number, err)
		}
		columns = append(columns, c)
	}
	return selection.ConcatColumns(ctx, columns, kernels.Options{Manager: m, Tag: "arrow"})
}

func (s source) field() (arrow.Field, error) {
	structs := C.calloc(1, C.SCHEMA_BYTES)
	defer C.free(structs)
	if status := C.gpuframe_stream_schema(s.stream, s.onDevice, structs); status != 0 {
		return arrow.Field{}, s.failed("get_schema", status)
	}
	return arrowdev.ImportField(structs)
}

// dropAll releases the batches that were not imported.
func dropAll(batches []incoming) {
	for _, in := range batches {
		in.drop()
		C.free(in.schema)
	}
}
