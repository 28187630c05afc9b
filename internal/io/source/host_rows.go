package source

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/big"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/io/source/prune"
	"github.com/gpuframe/gpuframe/internal/packed"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/memory"
)

// hostRows is the number of rows of a table that a query reads from a host table, if a request does not give one: many,
// because each table is some launches and waits, and few enough to copy the next one meanwhile.
var hostRows int64 = 16 << 20 // tests change it

// hostTable is a source of a host table.
type hostTable struct {
	table *HostTable
	// blocks are the blocks of all segments.
	blocks []hostBlock

	mu sync.Mutex
	// ranges are those of the blocks, by column, as far as queries need them.
	ranges map[string]*blockRanges
}

// hostBlock is a block of all columns of a segment.
type hostBlock struct{ segment, block int }

// blockRanges are the ranges of a column in all blocks, and in all of them together.
type blockRanges struct {
	blocks []prune.Range
	all    prune.Range
	known  bool // whether all is known
}

// HostRows is a source of the rows of a host table.
//
// # Ownership
//
// The source holds no reference: the table must not be released before the last reader is open.
func HostRows(t *HostTable) (Source, error) {
	if t == nil {
		return nil, &Error{Source: "host table", RowGroup: -1, Err: fmt.Errorf("the table is nil: %w", ErrArgument)}
	}
	s := &hostTable{table: t, ranges: map[string]*blockRanges{}}
	for i, segment := range t.segments {
		for block := range (segment.NumRows() + packed.BlockRows - 1) / packed.BlockRows {
			s.blocks = append(s.blocks, hostBlock{i, int(block)})
		}
	}
	return s, nil
}

// String implements [Source].
func (s *hostTable) String() string { return "host table" }

// Schema implements [Source].
func (s *hostTable) Schema(context.Context) (*arrow.Schema, error) { return s.table.schema, nil }

// Rows implements [Source].
func (s *hostTable) Rows(context.Context) (rows int64, exact bool) { return s.table.rows, true }

// rangesOf returns the ranges of a column.
func (s *hostTable) rangesOf(name string) *blockRanges {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.ranges[name]; r != nil {
		return r
	}
	r := &blockRanges{blocks: make([]prune.Range, len(s.blocks)), known: true}
	places := s.table.schema.FieldIndices(name)
	for i, b := range s.blocks {
		r.blocks[i] = prune.Unknown
		if len(places) > 0 {
			r.blocks[i] = s.statistics(b, places[0])
		}
		if r.known && r.blocks[i].Valid != 0 {
			r.all, r.known = r.all.Union(r.blocks[i])
		}
	}
	s.ranges[name] = r
	return r
}

// statistics returns the range of a column in a block.
func (s *hostTable) statistics(b hostBlock, place int) (r prune.Range) {
	c, ok := rawAs[*rawPacked](s.table.segments[b.segment].Column(place).DataType())
	if !ok {
		return prune.Unknown
	}
	block := &c.Blocks[b.block]
	r.Nulls, r.Valid = int64(block.Nulls), int64(block.Rows-block.Nulls)
	if block.Bounded {
		r.Low, r.High = boundOf(c.Type, block.Low), boundOf(c.Type, block.High)
	}
	return r
}

// boundOf returns a bound of a block as a value of [Source].Bounds.
func boundOf(t arrow.DataType, bound int64) any {
	switch {
	case arrow.IsFloating(t.ID()):
		return math.Float64frombits(uint64(bound))
	case arrow.IsUnsignedInteger(t.ID()):
		return uint64(bound)
	case t.ID() == arrow.DECIMAL128:
		return big.NewInt(bound)
	}
	return bound
}

// Bounds implements [Source].
func (s *hostTable) Bounds(_ context.Context, column string) (low, high any, ok bool) {
	r := s.rangesOf(column)
	if !r.known || r.all.Low == nil {
		return nil, nil, false
	}
	return r.all.Low, r.all.High, true
}

// possible reports for each block whether it may have a row that meets the conditions.
func (s *hostTable) possible(ctx context.Context, where []expr.Expr) ([]bool, error) {
	return prune.Possible(ctx, s.table.schema, where, len(s.blocks), func(part int, column string) prune.Range {
		return s.rangesOf(column).blocks[part]
	})
}

// Excluded implements [Excluder]: blocks are row groups.
func (s *hostTable) Excluded(ctx context.Context, where []expr.Expr) (e Exclusion, err error) {
	possible, err := s.possible(ctx, where)
	e.RowGroups = len(possible)
	for _, p := range possible {
		if !p {
			e.SkippedRowGroups++
		}
	}
	return e, wrap(s, err)
}

// Open implements [Source].
func (s *hostTable) Open(ctx context.Context, m *memory.Manager, request Request) (buffer.Reader, error) {
	selected, err := project(s.table.schema, request.Columns)
	if err != nil {
		return nil, wrap(s, err)
	}
	possible, err := s.possible(ctx, request.Where)
	if err != nil {
		return nil, wrap(s, err)
	}
	if err := s.table.retain(); err != nil {
		return nil, wrap(s, err)
	}
	if request.BatchRows == 0 {
		request.BatchRows = min(hostRows, batchRows(true, request))
	} else {
		request.BatchRows = (request.BatchRows + packed.BlockRows - 1) / packed.BlockRows * packed.BlockRows
	}
	r := &hostRecords{projection: selected, source: s, possible: possible}
	counters := request.Counters.or()
	for _, p := range possible {
		if p {
			counters.RowGroups.Add(1)
		} else {
			counters.SkippedRowGroups.Add(1)
		}
	}
	l := newLoader(s, m, request, selected.schema, splitting(r, request.BatchRows))
	l.stages = m != nil && m.Device().Kind() != device.Host
	return l, nil
}

// hostRecords are the rows of a host table that were not read.
type hostRecords struct {
	projection
	source   *hostTable
	possible []bool
	// at is the next block.
	at int
}

// next implements [records]. It returns blocks behind each other of one segment.
func (r *hostRecords) next(context.Context) (arrow.Record, error) {
	blocks := r.source.blocks
	for r.at < len(blocks) && !r.possible[r.at] {
		r.at++
	}
	if r.at == len(blocks) {
		return nil, io.EOF
	}
	first := blocks[r.at]
	end := first.block
	for r.at < len(blocks) && r.possible[r.at] && blocks[r.at].segment == first.segment {
		r.at, end = r.at+1, end+1
	}
	segment := r.source.table.segments[first.segment]
	rows := segment.NewSlice(int64(first.block)*packed.BlockRows, min(int64(end)*packed.BlockRows, segment.NumRows()))
	defer rows.Release()
	return r.selected(rows), nil
}

// selected returns the selected columns of a record.
func (r *hostRecords) selected(record arrow.Record) arrow.Record {
	if r.places == nil {
		record.Retain()
		return record
	}
	fields, columns := make([]arrow.Field, len(r.places)), make([]arrow.Array, len(r.places))
	for i, place := range r.places {
		fields[i], columns[i] = record.Schema().Field(place), record.Column(place)
	}
	return array.NewRecord(arrow.NewSchema(fields, nil), columns, record.NumRows())
}

// close implements [records].
func (r *hostRecords) close(bool) error { return r.source.table.close() }
