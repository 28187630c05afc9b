package exec

import (
	"context"
	"math"
	"reflect"
	"slices"
	"sync"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/base/cancel"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

// scan reads a source. If it waits for the bounds of keys, it opens the source when the first
// table is read: the join has read its right side by then.
type scan struct {
	*stage
	plan    *plan.Scan
	request source.Request
	reader  buffer.Reader
	// waits has the bounds, by number, that the scan waits for.
	waits map[int]*keyBounds
	// narrows is set if the source is open, and learns the bounds before the first table is read.
	narrows bool
	// dropped is the condition for rows to keep, or the zero Expr.
	dropped expr.Expr
	// divided is set if several devices read the source.
	divided *dividedScan
	// begin, if it is not nil, starts the opening of a source that waits for answers, at its first call. stop ends the opening.
	begin   func()
	opening *scanOpening
	stop    context.CancelFunc
}

// scanOpening is done when a source is open, or has failed.
type scanOpening struct {
	done chan struct{}
	err  error
}

func openScan(ctx context.Context, o *opener, base *stage, node plan.Node) (buffer.Reader, error) {
	n := node.(*plan.Scan)
	s := &scan{stage: base, plan: n, waits: map[int]*keyBounds{}, request: source.Request{
		Columns: n.Columns(), Where: n.Where(), Limit: n.Limit(), Numbered: n.Numbered(),
		BatchRows: base.settings.BatchRows, MostRows: base.settings.MostRows, Tag: base.settings.Tag, Readahead: base.readahead,
	}}
	if s.request.Columns == nil {
		s.request.Columns = []string{}
	}
	if base.settings.Profile != nil {
		s.request.Counters = &base.settings.Profile.Of(n).Source
	}
	if base.worker != nil {
		s.divided = base.worker.scan()
	} else if base.settings.Progress != nil {
		s.request.Progress = base.settings.Progress.scan()
	}
	var bounded []string
	for i, b := range n.Bounds() {
		if _, _, ok := base.settings.source(n).Bounds(ctx, b.Column); ok {
			if s.divided == nil || s.divided.isFirst() {
				base.bounds[b.Of] = &keyBounds{}
			}
			s.waits[i] = base.bounds[b.Of]
			bounded = append(bounded, b.Column)
		}
	}
	s.narrows = len(s.waits) > 0 && s.divided == nil && s.request.Limit == 0 && source.ReadsEarly(ctx, base.settings.source(n), base.settings.Manager, bounded...)
	if len(s.waits) > 0 && !s.narrows {
		return s, nil
	}
	if s.divided == nil && source.IsRemote(base.settings.source(n)) {
		s.begin = sync.OnceFunc(func() { s.openAhead(ctx) })
		if o.later != nil {
			o.later.begins = append(o.later.begins, s.begin)
		} else {
			s.begin()
		}
		return s, nil
	}
	return s, s.openEarly(ctx)
}

// openAhead opens the source on a goroutine, so that the sources of a plan wait for answers at the same time.
func (s *scan) openAhead(ctx context.Context) {
	ctx, s.stop = context.WithCancel(ctx)
	s.opening = &scanOpening{done: make(chan struct{})}
	go func() {
		defer close(s.opening.done)
		s.opening.err = s.openEarly(ctx)
	}()
}

// await waits until the source is open.
func (s *scan) await(ctx context.Context) error {
	if s.begin == nil {
		return nil
	}
	s.begin()
	select {
	case <-s.opening.done:
		return s.opening.err
	case <-ctx.Done():
		return cancel.Error(ctx)
	}
}

// openEarly opens the source, and begins to read it, unless a limit may leave out the rows.
func (s *scan) openEarly(ctx context.Context) error {
	if err := s.open(ctx); err != nil {
		return err
	}
	if early, ok := s.reader.(source.EarlyReader); ok && s.request.Limit == 0 {
		early.Begin()
	}
	return nil
}

// open opens the source.
func (s *scan) open(ctx context.Context) (err error) {
	if !s.narrows {
		s.request.Where = slices.Concat(s.request.Where, s.boundConditions(ctx))
	}
	if s.divided != nil {
		s.reader, err = s.divided.open(ctx, s.plan, s.request)
		return err
	}
	s.reader, err = s.settings.source(s.plan).Open(ctx, s.settings.Manager, s.request)
	return err
}

// boundConditions returns the conditions of the bounds that are known. It sets dropped.
func (s *scan) boundConditions(ctx context.Context) (conditions []expr.Expr) {
	for i, b := range s.plan.Bounds() {
		if s.waits[i] == nil {
			continue
		}
		bounds := s.waits[i].get()
		drops := s.leavesOut(ctx, b.Column, bounds)
		for _, c := range bounds.conditions(b.Column) {
			if _, _, err := c.Type(s.Schema()); err != nil {
				continue // of a column that is encoded by a dictionary, for example
			}
			conditions = append(conditions, c)
			switch {
			case drops && s.dropped.IsZero():
				s.dropped = c
			case drops:
				s.dropped = s.dropped.And(c)
			}
		}
	}
	return conditions
}

// leavesOut reports whether bounds are at most half of those of a source's column. Then
// the rows outside of them are removed from the tables.
func (s *scan) leavesOut(ctx context.Context, column string, b foundBounds) bool {
	if b.empty {
		return true
	}
	low, high, ok := s.settings.source(s.plan).Bounds(ctx, column)
	from, isInteger := low.(int64)
	to, too := high.(int64)
	if !ok || !isInteger || !too {
		return false
	}
	least, _ := b.low.Literal()
	greatest, _ := b.high.Literal()
	return width(reflect.ValueOf(least), reflect.ValueOf(greatest)) <= (float64(to)-float64(from))/2
}

// width returns the distance of two values that are stored as signed integers, or infinity.
func width(low, high reflect.Value) float64 {
	if !low.CanInt() || !high.CanInt() {
		return math.Inf(1)
	}
	return float64(high.Int()) - float64(low.Int())
}

// Next implements buffer.Reader.
func (s *scan) Next(ctx context.Context) (*buffer.Buffer, error) {
	if err := s.await(ctx); err != nil {
		return nil, s.failed(unended(err))
	}
	if s.reader == nil {
		if err := s.open(ctx); err != nil {
			return nil, s.failed(unended(err))
		}
	}
	if s.narrows {
		s.narrows = false
		if err := s.reader.(source.EarlyReader).Narrow(ctx, s.boundConditions(ctx)); err != nil {
			return nil, s.failed(unended(err))
		}
	}
	table, err := s.reader.Next(ctx)
	if err == nil && s.settings.Stream != nil {
		table, err = s.settle(table)
	}
	if err == nil && !s.dropped.IsZero() {
		table, err = s.drop(ctx, table)
	}
	return table, s.failed(err)
}

// settle declares that the memory of a table that is not of the query's stream is final: then other
// queries read it at the same time. It takes over the table.
func (s *scan) settle(table *buffer.Buffer) (*buffer.Buffer, error) {
	var failures []error
	settled := func(block *memory.Block) {
		if block != nil && block.Stream() != s.settings.Stream {
			failures = append(failures, block.Settle())
		}
	}
	for i := range table.NumColumns() {
		for block := range table.Column(i).Blocks {
			settled(block)
		}
	}
	settled(table.DeviceRows().Block())
	return release.OnError(table, failures...)
}

// drop removes the rows outside of the bounds, if memory suffices. It takes over the table.
func (s *scan) drop(ctx context.Context, table *buffer.Buffer) (*buffer.Buffer, error) {
	kept, err := selection.Filter(ctx, table, s.dropped, s.options())
	if isShort(err) {
		return table, nil
	}
	return release.OnError(kept, unended(err), table.Release())
}

// Close implements buffer.Reader.
func (s *scan) Close() error {
	if s.opening != nil {
		s.stop()
		<-s.opening.done
	}
	if s.reader == nil {
		return nil
	}
	return s.reader.Close()
}
