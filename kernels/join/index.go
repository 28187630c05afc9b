package join

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
)

// Index is the right table of a join, prepared for any number of left tables of one schema.
// It holds the table, and a hash table or the sorted keys. All of it counts against the
// manager's budget. It may be used from several goroutines. [Index.Spill] lets a spiller move
// it.
type Index struct {
	schema, rightSchema *arrow.Schema
	on                  []On
	// sides have the right table, its keys, and the options.
	sides *sides
	built *built
	// parts are the columns of the build side: see [built.parts].
	parts [][]*column.Column
	// encoding is that of the right keys, or nil if these are sorted or the join has none.
	encoding *encoding
	// finder is the strategy that has built it.
	finder finder
	// spilled has the memory instead of the fields above, after [Index.Spill]. Calls that use
	// the index hold using for reading.
	using   sync.RWMutex
	spilled *spilledIndex
}

// Build prepares a right table for joins with left tables of a schema. The kinds are Inner,
// Left, Semi, Anti and Cross. Results are in [LeftOrder], so the results of the parts of a
// left table are the parts of its result. MaxRows is the most rows of each result.
//
// # Waiting
//
// On a GPU Build waits for the number of rows if only the device knows it, and for whether
// keys occur twice; for keys that do not fit 64 bits as order.Indices does.
//
// # Ownership
//
// The caller releases the index. The index keeps the memory of the table.
//
// # Errors
//
// The errors are those of [Tables].
//
// # Estimates
//
// Estimates are upper bounds. The result is the memory of the index without the table's columns.
func Build(ctx context.Context, left *arrow.Schema, right *buffer.Buffer, on []On, options Options) (*Index, error) {
	index, err := newIndex(ctx, left, right, on, options)
	if err != nil {
		return nil, fmt.Errorf("join: build: %w", err)
	}
	return index, nil
}

func newIndex(ctx context.Context, left *arrow.Schema, right *buffer.Buffer, on []On, options Options) (*Index, error) {
	if options.Kind.keepsRight() {
		return nil, fmt.Errorf("Kind is %v, but only all left rows together decide which right rows have no match: use Tables: %w", options.Kind, device.ErrInvalidValue)
	}
	if err := right.Check(); err != nil {
		return nil, err
	}
	estimate := options.Estimate
	options.Estimate = nil
	if _, err := schemaOf(left, right.Schema(), on, options); err != nil {
		return nil, err
	}
	on = options.withNulls(left, right.Schema(), on)
	if estimate != nil {
		options.Estimate = estimate
		return nil, estimateIndex(ctx, left, right, on, options)
	}
	options.Order = LeftOrder
	ix := &Index{schema: left, rightSchema: right.Schema(), on: on, sides: newSides(options)}
	ix.sides.kept = true
	if err := ix.build(ctx, right); err != nil {
		return nil, errors.Join(err, ix.Release())
	}
	return ix, nil
}

// Release releases what the index holds.
func (ix *Index) Release() error {
	if ix == nil {
		return nil
	}
	return errors.Join(ix.releaseMemory(), ix.spilled.Release())
}

func (ix *Index) build(ctx context.Context, right *buffer.Buffer) (err error) {
	s := ix.sides
	if s.right, err = s.exact(ctx, "right", right); err != nil {
		return err
	}
	if s.options.Manager == nil {
		s.options.Manager = right.Manager()
	}
	if s.result, err = planResult(ix.schema, right.Schema(), ix.on, &s.options); err != nil {
		return err
	}
	if s.Call, err = op.Begin(ctx, s.options.Options, columnsOf(s.right)...); err != nil {
		return err
	}
	if s.rightKeys, err = ix.keys(ctx, s, s.right, 1); err != nil {
		return err
	}
	m := matcher{call: s.call, keys: [2][]*column.Column{1: s.rightKeys}, facts: s.facts(math.MaxInt, rowsOf(s.right))}
	err = m.measure()
	if ix.encoding = m.encoding; err != nil {
		return err
	}
	if ix.finder = chooseFinder(&m.facts).run; ix.finder.build == nil {
		return nil
	}
	if ix.built, err = ix.finder.build(&m); err != nil {
		return err
	}
	if t := ix.built.table; t != nil {
		err = t.decideDistinct(s.call) // several goroutines look for rows
	}
	if err = errors.Join(err, s.waitIdle()); err == nil {
		ix.parts, err = ix.built.parts(s.Manager)
	}
	return err
}

// keys returns the keys of one side in the types that both sides have. The sides release
// them.
func (ix *Index) keys(ctx context.Context, s *sides, table *buffer.Buffer, side int) (keys []*column.Column, err error) {
	for i, pair := range ix.on {
		key, err := ix.key(ctx, s, table, side, pair)
		if err != nil {
			return nil, &KeyError{i, pair, err}
		}
		s.held.Add(key)
		keys = append(keys, key)
	}
	return keys, s.waitIdle()
}

func (ix *Index) key(ctx context.Context, s *sides, table *buffer.Buffer, side int, pair On) (*column.Column, error) {
	a, b, err := pair.types(ix.schema, ix.rightSchema)
	if err != nil {
		return nil, err
	}
	name, e := pair.side(side)
	plain, err := keyColumn(ctx, [...]string{"left", "right"}[side], table, name, e, s.scratch())
	if err != nil {
		return nil, err
	}
	unified, err := convert(ctx, plain, unifiedType(a, b), s.scratch())
	return release.OnError(unified, err, plain.Release())
}

// Probe joins a left table with the right one. The stream and the manager are those of the
// left table. Otherwise it is [Tables]. The caller releases the result.
func (ix *Index) Probe(ctx context.Context, left *buffer.Buffer) (*buffer.Buffer, error) {
	var table *buffer.Buffer
	err := ix.probe(ctx, left, func(s *sides, m *matches) (err error) {
		o := output{sides: s, roles: s.roles(false)}
		table, err = o.tableOf(m)
		return err
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("join: probe: %w", err), table.Release())
	}
	return table, nil
}

// Rows returns the numbers of the rows that [Index.Probe] would gather, as [Rows] does.
func (ix *Index) Rows(ctx context.Context, left *buffer.Buffer) (leftRows, rightRows *column.Column, err error) {
	err = ix.probe(ctx, left, func(s *sides, m *matches) error {
		o := output{sides: s, roles: s.roles(false)}
		j, err := o.pairsOf(m)
		if err != nil {
			return err
		}
		leftRows, rightRows, err = o.bothNumbers(j)
		return errors.Join(err, j.Release())
	})
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("join: probe: %w", err), leftRows.Release(), rightRows.Release())
	}
	return leftRows, rightRows, nil
}

// probe finds the matches of a left table and gives them to use, which releases them.
func (ix *Index) probe(ctx context.Context, left *buffer.Buffer, use func(*sides, *matches) error) error {
	ix.using.RLock()
	defer ix.using.RUnlock()
	s := newSides(ix.sides.options)
	s.result = ix.sides.result
	err := func() (err error) {
		m, err := ix.acquire(ctx, &s.held)
		if err != nil {
			return err
		}
		s.right, s.rightKeys = m.right, m.keys
		if s.left, err = s.exact(ctx, "left", left); err != nil {
			return err
		}
		if !sameColumns(ix.schema, left.Schema()) {
			return fmt.Errorf("the left table has the schema %v, but the index was built for %v: %w", left.Schema(), ix.schema, buffer.ErrSchema)
		}
		options := s.options.Options
		options.Stream, options.Manager = nil, left.Manager()
		s.options.Options = options
		if s.Call, err = op.Begin(ctx, options, slices.Concat(columnsOf(s.left), columnsOf(s.right), m.parts)...); err != nil {
			return err
		}
		if s.leftKeys, err = ix.keys(ctx, s, s.left, 0); err != nil {
			return err
		}
		matched, err := ix.matches(s, m.built)
		if err != nil {
			return err
		}
		return use(s, matched)
	}()
	return errors.Join(err, s.Release())
}

// matches finds the matches of the left rows.
func (ix *Index) matches(s *sides, b *built) (_ *matches, err error) {
	m := matcher{call: s.call, keys: [2][]*column.Column{s.leftKeys}, facts: s.facts(rowsOf(s.left), rowsOf(s.right))}
	if m.facts.isEmpty() && !m.facts.isCross() {
		return m.matchNone(nil)
	}
	if b != nil && b.table != nil {
		if m.encoding, err = newEncoding(s.call, [2][]*column.Column{s.leftKeys}, 0); err != nil {
			return nil, err
		}
	}
	rows, err := ix.finder.match(&m, b)
	return release.OnError(rows, err, m.encoding.Release())
}

// sameColumns reports whether two schemas have the same names, and types but for the widths of offsets.
func sameColumns(a, b *arrow.Schema) bool {
	if a.NumFields() != b.NumFields() {
		return false
	}
	for i, f := range a.Fields() {
		if g := b.Field(i); f.Name != g.Name || !layout.EqualButOffsets(f.Type, g.Type) {
			return false
		}
	}
	return true
}
