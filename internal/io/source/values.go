package source

import (
	"context"
	"fmt"
	"io"
	"reflect"

	"github.com/apache/arrow/go/v17/arrow"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/arrays/rows"
	"github.com/gpuframe/gpuframe/memory"
)

// values is a source of Go structs.
type values[T any] struct {
	schema *arrow.Schema
	values []T
}

// Values is a source of the structs of a slice: package rows documents their columns.
// The source refers to the slice, which must not change until the last reader is
// closed.
func Values[T any](list []T) (Source, error) {
	schema, err := rows.Schema[T]()
	if err != nil {
		return nil, &Error{Source: "values of " + reflect.TypeFor[T]().String(), RowGroup: -1, Err: err}
	}
	return &values[T]{schema: schema, values: list}, nil
}

func (s *values[T]) String() string {
	return fmt.Sprintf("%d values of %v", len(s.values), reflect.TypeFor[T]())
}

func (s *values[T]) Schema(context.Context) (*arrow.Schema, error) { return s.schema, nil }

func (s *values[T]) Rows(context.Context) (rows int64, exact bool) { return int64(len(s.values)), true }

func (s *values[T]) Bounds(context.Context, string) (low, high any, ok bool) { return nil, nil, false }

func (s *values[T]) Open(_ context.Context, m *memory.Manager, request Request) (buffer.Reader, error) {
	selected, err := project(s.schema, request.Columns)
	if err != nil {
		return nil, wrap(s, err)
	}
	if request.BatchRows == 0 {
		request.BatchRows = defaultRows
	}
	allocator, closing := hostMemory(m)
	r := &valueRecords[T]{projection: selected, left: s.values, most: int(min(request.BatchRows, defaultRows)), allocator: allocator, closing: closing}
	return newLoader(s, m, request, selected.schema, r), nil
}

// valueRecords are records of structs.
type valueRecords[T any] struct {
	projection
	left      []T
	most      int // rows of a record
	allocator arrowmemory.Allocator
	closing   func(failed bool) error
}

func (r *valueRecords[T]) next(context.Context) (arrow.Record, error) {
	if len(r.left) == 0 {
		return nil, io.EOF
	}
	n := min(len(r.left), r.most)
	record, err := rows.Record(r.allocator, r.left[:n])
	if err != nil {
		return nil, err
	}
	defer record.Release()
	r.left = r.left[n:]
	return r.record(record), nil
}

func (r *valueRecords[T]) close(failed bool) error { return r.closing(failed) }
