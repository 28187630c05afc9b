package exec

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/buffer/spill"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/cancel"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/packed"
	"github.com/gpuframe/gpuframe/kernels/join"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

// Spilling makes the spiller of an engine when a query first holds several tables. The zero
// value with a manager is ready for use.
type Spilling struct {
	Manager *memory.Manager
	// Options configure the spiller.
	Options spill.Options
	// Parent, if it is not nil, is that of the engine that this one is a tenant of. Both have
	// one budget of host memory.
	Parent *Spilling

	mu      sync.Mutex
	spiller *spill.Spiller
}

// get returns the spiller.
func (s *Spilling) get() (*spill.Spiller, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.spiller != nil {
		return s.spiller, nil
	}
	options := s.Options
	options.Packer = packed.WordPacker{}
	if s.Parent != nil {
		within, err := s.Parent.get()
		if err != nil {
			return nil, err
		}
		options.Within = within
	}
	spiller, err := spill.NewSpiller(s.Manager, options)
	if err != nil {
		return nil, err
	}
	s.spiller = spiller
	return s.spiller, nil
}

// Explain adds to an error of a query that lacked memory the device of the manager, and why its tables
// were not written to files.
func (s *Spilling) Explain(err error) error {
	if !isShort(err) {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.spiller == nil {
		return err
	}
	if unwritten := s.spiller.Unwritten(); unwritten != nil {
		return fmt.Errorf("%w; %s: %w", err, s.Manager.Device().Name(), unwritten)
	}
	return err
}

// Close closes the spiller, if a query made it. No query may run.
func (s *Spilling) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.spiller == nil {
		return nil
	}
	return s.spiller.Close()
}

// isShort reports whether an operation lacked memory: then it may succeed with fewer rows.
func isShort(err error) bool {
	return errors.Is(err, memory.ErrBudget) || errors.Is(err, device.ErrOutOfMemory)
}

// isTooLarge reports whether an operation lacked memory, a join had too many pairs for one table, or
// offsets did not suffice: then it may succeed with fewer rows.
func isTooLarge(err error) bool {
	return isShort(err) || errors.Is(err, join.ErrTooManyRows) || isTooWide(err)
}

// held is a sequence of tables that move to host memory while memory is short. A single
// table, and tables with memory of another manager, do not move.
type held struct {
	*stage
	schema *arrow.Schema
	first  *buffer.Buffer
	tables []heldTable
	// bytes is the size of all tables that were added, rows the number of rows of those that can move.
	bytes uint64
	rows  int64
}

// heldTable is a [spill.Table], or a table that does not move.
type heldTable interface {
	Acquire(ctx context.Context) (*buffer.Buffer, error)
	Release() error
}

// fixed is a table that does not move.
type fixed struct{ *buffer.Buffer }

// Acquire returns the table with another reference.
func (f fixed) Acquire(context.Context) (*buffer.Buffer, error) { return f.Buffer, f.Retain() }

// hold takes tables over and reads the reader that they came from to its end.
func (s *stage) hold(ctx context.Context, reader buffer.Reader, before ...*buffer.Buffer) (*held, error) {
	h := &held{stage: s, schema: reader.Schema()}
	for i, table := range before {
		if err := h.add(ctx, table); err != nil {
			err = errors.Join(err, release.All(before[i+1:]))
			return nil, errors.Join(err, h.Release())
		}
	}
	for {
		table, err := reader.Next(ctx)
		if err == errEnd {
			return h, nil
		}
		if err == nil {
			err = h.add(ctx, table)
		}
		if err != nil {
			return nil, errors.Join(err, h.Release())
		}
	}
}

// add takes a table over, also if it fails.
func (h *held) add(ctx context.Context, table *buffer.Buffer) error {
	table, err := h.compact(ctx, table)
	if err != nil {
		return err
	}
	if rows, known := table.HostRows(); known && rows == 0 {
		return table.Release()
	}
	h.bytes += table.Bytes()
	if h.isEmpty() {
		h.first = table
		return nil
	}
	first := h.first
	h.first = nil
	if first != nil {
		if err := h.movable(ctx, first); err != nil {
			return errors.Join(err, table.Release())
		}
	}
	return h.movable(ctx, table)
}

// isEmpty reports whether no table was added that has rows, as far as the host knows.
func (h *held) isEmpty() bool { return h.first == nil && len(h.tables) == 0 }

// movable takes a table over and lets it move to host memory. It drops empty tables.
func (h *held) movable(ctx context.Context, table *buffer.Buffer) error {
	rows, err := table.NumRows(ctx)
	if err != nil || rows == 0 {
		return errors.Join(err, table.Release())
	}
	spiller, err := h.settings.Spilling.get()
	if err != nil {
		return errors.Join(err, table.Release())
	}
	kept, err := spiller.Add(table)
	switch {
	case err == nil:
		h.tables, h.rows = append(h.tables, kept), h.rows+rows
		return nil
	case errors.Is(err, spill.ErrOtherManager):
		// For example tables of the engine, in the query of a tenant.
		h.tables, h.rows = append(h.tables, fixed{table}), h.rows+rows
		return nil
	}
	return errors.Join(err, table.Release())
}

// addAll takes over tables of another sequence.
func (h *held) addAll(ctx context.Context, tables []heldTable) error {
	if first := h.first; first != nil && len(tables) > 0 {
		h.first = nil
		if err := h.movable(ctx, first); err != nil {
			return err
		}
	}
	h.tables = append(h.tables, tables...)
	return nil
}

// drop releases the first n of the tables that can move.
func (h *held) drop(n int) error {
	dropped := h.tables[:n]
	h.tables = h.tables[n:]
	return release.All(dropped)
}

// acquire returns all tables.
func (h *held) acquire(ctx context.Context) ([]*buffer.Buffer, error) {
	if h.first != nil {
		return []*buffer.Buffer{h.first}, h.first.Retain()
	}
	list, err := h.acquireTables(ctx)
	if err != nil {
		return nil, errors.Join(err, release.All(list))
	}
	return list, nil
}

// acquireTables returns the tables that can move, and after an error those before it.
func (h *held) acquireTables(ctx context.Context) (list []*buffer.Buffer, err error) {
	for _, t := range h.tables {
		table, err := acquired(ctx, t)
		if err != nil {
			return list, err
		}
		list = append(list, table)
	}
	return list, nil
}

// acquired returns a table, unless the context is done.
func acquired(ctx context.Context, t heldTable) (*buffer.Buffer, error) {
	if err := cancel.Error(ctx); err != nil {
		return nil, err
	}
	return t.Acquire(ctx)
}

// whole returns all rows as one table.
func (h *held) whole(ctx context.Context) (*buffer.Buffer, error) {
	tables, err := h.acquire(ctx)
	if err != nil {
		return nil, err
	}
	if err := cancel.Error(ctx); err != nil {
		return nil, errors.Join(err, release.All(tables))
	}
	if len(tables) == 0 {
		return Empty(ctx, h.settings.Manager, h.schema, h.settings.Tag)
	}
	all, err := selection.Concat(ctx, tables, h.options())
	if err == nil {
		err = cancel.Error(ctx)
	}
	return release.OnError(all, err, release.All(tables))
}

// each calls f with each table. f does not keep it.
func (h *held) each(ctx context.Context, f func(*buffer.Buffer) error) error {
	if h.first != nil {
		if err := cancel.Error(ctx); err != nil {
			return err
		}
		return f(h.first)
	}
	for _, t := range h.tables {
		table, err := acquired(ctx, t)
		if err != nil {
			return err
		}
		if err := errors.Join(f(table), table.Release()); err != nil {
			return err
		}
	}
	return nil
}

// pop returns the first table and forgets it. At the end the error is io.EOF.
func (h *held) pop(ctx context.Context) (*buffer.Buffer, error) {
	if table := h.first; table != nil {
		h.first = nil
		return table, nil
	}
	if len(h.tables) == 0 {
		return nil, errEnd
	}
	first := h.tables[0]
	table, err := acquired(ctx, first)
	if err != nil {
		return nil, err
	}
	h.tables = h.tables[1:]
	return release.OnError(table, first.Release())
}

// Release releases the tables. Further calls do nothing.
func (h *held) Release() error {
	if h == nil {
		return nil
	}
	err := errors.Join(h.first.Release(), release.All(h.tables))
	h.first, h.tables = nil, nil
	return err
}
