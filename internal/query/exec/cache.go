package exec

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/base/cancel"
	"github.com/gpuframe/gpuframe/internal/query/plan"
)

// Stores are the stores of an engine that keep rows. The zero value is ready for use.
type Stores struct {
	mu     sync.Mutex
	filled []*Store
}

// add notes a store that keeps rows.
func (s *Stores) add(filled *Store) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.filled = append(s.filled, filled)
}

// remove forgets a store.
func (s *Stores) remove(evicted *Store) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.filled = slices.DeleteFunc(s.filled, func(f *Store) bool { return f == evicted })
}

// Evict releases the rows of all stores, and reports how many there were. Queries that read
// them now keep them until they end.
func (s *Stores) Evict() (evicted int, err error) {
	s.mu.Lock()
	filled := slices.Clone(s.filled)
	s.mu.Unlock()
	failures := make([]error, len(filled))
	for i, store := range filled {
		failures[i] = store.Evict()
	}
	return len(filled), errors.Join(failures...)
}

// Store keeps the rows of a [plan.Cache]. The first run that reads the cache fills the store,
// and others wait for it.
type Store struct {
	among *Stores

	mu  sync.Mutex
	tag func() string
	// kept is nil while the store is empty. filling, if it is not nil, is closed when the run
	// that fills the store ends.
	kept    *keptRows
	filling chan struct{}
	// schema is that of the rows, once a query was bound.
	schema *arrow.Schema
}

// keptRows are the tables of a store. The store and each reader hold a reference.
type keptRows struct {
	tables     []heldTable
	rows       int64
	bytes      uint64
	references int
}

// NewStore makes a store. The memory of its rows has the tag.
func NewStore(among *Stores, tag func() string) *Store { return &Store{among: among, tag: tag} }

// SetTag gives the memory of rows that are kept from now on another tag.
func (s *Store) SetTag(tag func() string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tag = tag
}

func (s *Store) tagged() string {
	s.mu.Lock()
	tag := s.tag
	s.mu.Unlock()
	return tag()
}

// Accept reports an error if queries that were bound before have other columns.
func (s *Store) Accept(schema *arrow.Schema) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.schema == nil {
		s.schema = schema
	}
	same := slices.EqualFunc(s.schema.Fields(), schema.Fields(), func(a, b arrow.Field) bool {
		return a.Name == b.Name && a.Nullable == b.Nullable && arrow.TypeEqual(a.Type, b.Type)
	})
	if !same {
		return fmt.Errorf("the rows have other columns than those of the cache before, %v and %v: call Cache again: %w", schema, s.schema, buffer.ErrSchema)
	}
	return nil
}

// Kept implements [plan.Store].
func (s *Store) Kept() (rows int64, bytes uint64, filled bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept == nil {
		return 0, 0, false
	}
	return s.kept.rows, s.kept.bytes, true
}

// Evict releases the rows. A later run fills the store again.
func (s *Store) Evict() error {
	s.mu.Lock()
	kept := s.kept
	s.kept = nil
	s.mu.Unlock()
	if kept == nil {
		return nil
	}
	s.among.remove(s)
	return s.leave(kept)
}

// enter returns the rows with a reference, or nil if the caller has to call fill. It waits
// while another run fills the store.
func (s *Store) enter(ctx context.Context) (*keptRows, error) {
	for {
		s.mu.Lock()
		if s.kept != nil {
			defer s.mu.Unlock()
			s.kept.references++
			return s.kept, nil
		}
		filling := s.filling
		if filling == nil {
			s.filling = make(chan struct{})
			s.mu.Unlock()
			return nil, nil
		}
		s.mu.Unlock()
		select {
		case <-filling:
		case <-ctx.Done():
			return nil, cancel.Error(ctx)
		}
	}
}

// fill ends what enter began. kept is nil if the rows could not be kept. Otherwise the caller
// has a reference to it.
func (s *Store) fill(kept *keptRows) {
	s.mu.Lock()
	if s.kept = kept; kept != nil {
		kept.references = 2
		s.among.add(s)
	}
	filling := s.filling
	s.filling = nil
	s.mu.Unlock()
	close(filling)
}

// leave gives a reference back.
func (s *Store) leave(kept *keptRows) error {
	s.mu.Lock()
	kept.references--
	last := kept.references == 0
	s.mu.Unlock()
	if !last {
		return nil
	}
	return (&held{tables: kept.tables}).Release()
}

// caching reads the rows of a store. If the store is empty, it opens the input in the first
// call of Next and fills the store. If memory does not suffice to keep the rows, it yields them
// and keeps none.
type caching struct {
	*stage
	plan  *plan.Cache
	store *Store
	kept  *keptRows
	next  int
	// input is open if the rows are not kept.
	input  buffer.Reader
	closed bool
}

func newCaching(base *stage, n *plan.Cache) *caching {
	return &caching{stage: base, plan: n, store: n.Store().(*Store)}
}

// Next implements buffer.Reader.
func (c *caching) Next(ctx context.Context) (*buffer.Buffer, error) {
	if c.closed {
		return nil, errEnd
	}
	if c.kept == nil && c.input == nil {
		if err := c.enter(ctx); err != nil {
			return nil, c.failed(unended(err))
		}
	}
	if c.input != nil {
		table, err := c.input.Next(ctx)
		return table, c.failed(err)
	}
	if c.next == len(c.kept.tables) {
		return nil, errEnd
	}
	table, err := c.kept.tables[c.next].Acquire(ctx)
	if err != nil {
		return nil, c.failed(err)
	}
	c.next++
	return table, nil
}

// enter gets the rows of the store, or opens the input.
func (c *caching) enter(ctx context.Context) (err error) {
	if c.settings.KeepNothing && !c.plan.IsFilled() {
		return c.open(ctx)
	}
	if c.kept, err = c.store.enter(ctx); err != nil || c.kept != nil {
		return err
	}
	kept, err := c.read(ctx)
	c.store.fill(kept)
	c.kept = kept
	if !isShort(err) {
		return err
	}
	if again := c.open(ctx); again != nil {
		return errors.Join(err, again) // a reader that can be read once, for example
	}
	return nil
}

// open opens the input separately from other nodes of the plan: these do not know whether the
// cache reads it.
func (c *caching) open(ctx context.Context) (err error) {
	settings := c.settings
	settings.Tag = c.store.tagged()
	c.input, err = Open(ctx, c.plan.Input(), settings)
	return err
}

// read reads the input to its end.
func (c *caching) read(ctx context.Context) (*keptRows, error) {
	if err := c.open(ctx); err != nil {
		return nil, err
	}
	own := *c.stage
	own.settings.Tag = c.store.tagged()
	h := &held{stage: &own, schema: c.Schema()}
	kept := &keptRows{}
	err := c.readInto(ctx, h, kept)
	err = errors.Join(err, c.input.Close())
	if c.input = nil; err != nil {
		return nil, errors.Join(err, h.Release())
	}
	kept.tables = h.tables
	return kept, nil
}

func (c *caching) readInto(ctx context.Context, h *held, kept *keptRows) error {
	for {
		table, err := c.input.Next(ctx)
		if err == errEnd {
			return nil
		}
		if err != nil {
			return err
		}
		if table, err = Exact(ctx, table, h.settings); err != nil {
			return err
		}
		rows, _ := table.HostRows()
		kept.rows, kept.bytes = kept.rows+rows, kept.bytes+table.Bytes()
		if err := h.movable(ctx, table); err != nil {
			return err
		}
	}
}

// Close implements buffer.Reader.
func (c *caching) Close() error {
	kept, input := c.kept, c.input
	c.kept, c.input, c.closed = nil, nil, true
	var err error
	if input != nil {
		err = input.Close()
	}
	if kept != nil {
		err = errors.Join(err, c.store.leave(kept))
	}
	return errors.Join(err, c.stage.Close())
}
