package reduce

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/memory"
)

// resultTable makes a table of results that are resultStride bytes apart.
func (p *plan) resultTable(schema *arrow.Schema, results memory.Slice[uint8], manager *memory.Manager) (*buffer.Buffer, error) {
	columns := make([]*column.Column, 0, len(p.results))
	defer func() {
		for _, c := range columns {
			_ = c.Release()
		}
	}()
	for i, r := range p.results {
		begin := i * resultStride
		value, err := results.Slice(begin, begin+width(r.kind))
		if err != nil {
			return nil, err
		}
		data := column.Data{Type: schema.Field(i).Type, Length: 1, Buffers: []column.Bytes{{}, value}, Manager: manager}
		if r.nullable() {
			data.NullCount = column.UnknownNullCount
			if data.Buffers[0], err = results.Slice(begin+validityOffset, begin+validityOffset+1); err != nil {
				return nil, err
			}
		}
		c, err := column.New(data)
		if err != nil {
			return nil, err
		}
		columns = append(columns, c)
	}
	return buffer.New(schema, columns, buffer.Rows{Count: 1, Manager: manager})
}

// resultBytes returns the size of the results' memory.
func (p *plan) resultBytes() uint64 { return uint64(len(p.results)) * resultStride }

// resultSchema caches the last schema with its aggregates, because formatting
// expressions takes longer than a kernel.
type resultSchema struct{ last atomic.Pointer[namedSchema] }

type namedSchema struct {
	program    *exprtree.Program
	aggregates []Aggregate
	schema     *arrow.Schema
}

func (s *resultSchema) schema(p *plan, program *exprtree.Program, aggregates []Aggregate) *arrow.Schema {
	if last := s.last.Load(); last != nil && last.program == program && slices.Equal(last.aggregates, aggregates) {
		return last.schema
	}
	fields := make([]arrow.Field, len(aggregates))
	for i, r := range p.results {
		fields[i] = arrow.Field{Name: aggregates[i].Name(), Type: r.typeIn(program), Nullable: r.nullable()}
	}
	named := &namedSchema{program, slices.Clone(aggregates), arrow.NewSchema(fields, nil)}
	s.last.Store(named)
	return named.schema
}

// onlyColumn is the column of the table that Column makes.
var onlyColumn = expr.Col("column")

// columnSchemas caches schemas of one column by type, so that bound expressions are
// found in their cache. Its size is the number of types that a program uses.
var columnSchemas = struct {
	sync.Mutex
	byType map[arrow.DataType]*arrow.Schema
}{byType: make(map[arrow.DataType]*arrow.Schema)}

// mostSchemas limits the cache, because a program may keep creating types with
// parameters.
const mostSchemas = 256

func schemaOf(t arrow.DataType) *arrow.Schema {
	columnSchemas.Lock()
	defer columnSchemas.Unlock()
	schema := columnSchemas.byType[t]
	if schema == nil {
		if len(columnSchemas.byType) == mostSchemas {
			clear(columnSchemas.byType)
		}
		schema = arrow.NewSchema([]arrow.Field{{Name: "column", Type: t, Nullable: true}}, nil)
		columnSchemas.byType[t] = schema
	}
	return schema
}
