package exec

import (
	"context"
	"errors"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/cancel"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/join"
	"github.com/gpuframe/gpuframe/kernels/selection"
)

// chunkShare is the part of the budget, as a divisor, that a chunk of the right side takes, and a
// table of the result.
const chunkShare = 16

// leastPaired is the number of rows below which a table of a pair is not divided: the join of two
// such tables may have its square.
const leastPaired = 16

// chunked joins a part whose rows cannot be divided by a hash of the keys, because most of them
// have one key or because there are no keys. The right side comes in chunks, each of which is
// joined with all rows of the left side. Left rows without a match so far are kept from one chunk
// to the next.
type chunked struct {
	*joining
	kind join.Kind
	// right has the rows that are in no chunk yet, but for those in chunks.
	right  *held
	chunks pieces
	// chunk is the current chunk, or nil.
	chunk *buffer.Buffer
	// left has the rows that were not joined with the chunk yet, joined those that were. In a semi
	// or an anti join they are only rows without a match so far.
	left, joined *held
	// unmatched and unmatchedStill have the rows of a left join that have no match in the chunks
	// before this one, and none in this one. The first chunk, of which later is not set yet, finds
	// them among the rows of left.
	unmatched, unmatchedStill *held
	later                     bool
	// pairs are to be joined, the next one last. They are of one table of left.
	pairs []pair
	// ended is set after the last chunk, alone are rows of a left join without a match.
	ended bool
	alone pieces
}

// inChunks makes a join of a part, which it takes over. Each row of the result depends on one row of
// the left side.
func (j *joining) inChunks(part joinPart) *chunked {
	c := &chunked{joining: j, kind: j.plan.Options().Kind, right: part.right, left: part.left}
	c.joined, c.unmatched, c.unmatchedStill = c.none(), c.none(), c.none()
	return c
}

// next returns the next table of the result.
func (c *chunked) next(ctx context.Context) (*buffer.Buffer, error) {
	for {
		if err := cancel.Error(ctx); err != nil {
			return nil, err
		}
		var joined *buffer.Buffer
		var err error
		switch {
		case len(c.pairs) > 0:
			joined, err = c.joinPair(ctx)
		case c.chunk != nil && !c.left.isEmpty():
			err = c.meet(ctx)
		case c.chunk != nil && !c.unmatched.isEmpty():
			err = c.meetUnmatched(ctx)
		case c.chunk != nil:
			err = c.endChunk()
		case !c.ended:
			err = c.read(ctx)
		default:
			return c.rest(ctx)
		}
		if err != nil || joined != nil {
			return joined, err
		}
	}
}

// read begins the next chunk.
func (c *chunked) read(ctx context.Context) error {
	if c.chunks.isEmpty() {
		if err := c.readTables(ctx); err == errEnd {
			c.ended = true
			return nil
		} else if err != nil {
			return err
		}
	}
	last := len(c.chunks.list) - 1
	c.chunk, c.chunks.list = c.chunks.list[last], c.chunks.list[:last]
	return nil
}

// readTables makes a chunk of some tables of the right side, or several of one table.
func (c *chunked) readTables(ctx context.Context) error {
	most := max(c.settings.Manager.Budget()/chunkShare, 1)
	table, err := c.right.pop(ctx)
	if err != nil {
		return err
	}
	bytes := table.Bytes()
	if bytes > most {
		return c.chunks.cut(ctx, table, bytes, most)
	}
	tables := []*buffer.Buffer{table}
	for bytes < most && !c.right.isEmpty() {
		if table, err = c.right.pop(ctx); err != nil {
			return errors.Join(err, release.All(tables))
		}
		tables = append(tables, table)
		bytes += table.Bytes()
	}
	all, err := selection.Concat(ctx, tables, c.options())
	if isShort(err) {
		for _, t := range tables {
			c.chunks.push(t)
		}
		return nil
	}
	if all, err = release.OnError(all, err, release.All(tables)); err != nil {
		return err
	}
	c.chunks.push(all)
	return nil
}

// endChunk releases the chunk.
func (c *chunked) endChunk() error {
	c.left, c.joined = c.joined, c.left
	c.unmatched, c.unmatchedStill = c.unmatchedStill, c.unmatched
	c.later = true
	chunk := c.chunk
	c.chunk = nil
	return chunk.Release()
}

// meet makes a pair of the next table of the left side and the chunk, if their join is in the
// result, and keeps the rows that have no match in the chunk.
func (c *chunked) meet(ctx context.Context) error {
	table, err := c.left.pop(ctx)
	if err != nil {
		return err
	}
	p := pair{table, c.chunk}
	switch {
	case c.kind == join.Semi || c.kind == join.Anti:
		err = c.keepUnmatched(ctx, p, c.joined)
	case c.kind == join.Left && !c.later:
		err = c.keepUnmatched(ctx, p, c.unmatchedStill)
	}
	if err == nil && c.kind != join.Anti {
		err = c.push(p)
	}
	if err != nil || c.kind == join.Semi || c.kind == join.Anti {
		return errors.Join(err, table.Release())
	}
	return c.joined.add(ctx, table)
}

// meetUnmatched keeps the rows of a table that have no match in the chunk either.
func (c *chunked) meetUnmatched(ctx context.Context) error {
	table, err := c.unmatched.pop(ctx)
	if err != nil {
		return err
	}
	return errors.Join(c.keepUnmatched(ctx, pair{table, c.chunk}, c.unmatchedStill), table.Release())
}

// rest returns the rows of the left side without a match in any chunk, if they are in the result.
func (c *chunked) rest(ctx context.Context) (*buffer.Buffer, error) {
	switch c.kind {
	case join.Anti:
		return c.left.pop(ctx)
	case join.Left:
	default:
		return nil, errEnd
	}
	if c.alone.isEmpty() {
		unmatched := c.unmatched
		if !c.later {
			unmatched = c.left
		}
		table, err := unmatched.pop(ctx)
		if err != nil {
			return nil, err
		}
		c.alone.push(table)
	}
	return c.alone.next(ctx, func(left *buffer.Buffer) (*buffer.Buffer, error) {
		empty, err := Empty(ctx, c.settings.Manager, c.right.schema, c.settings.Tag)
		if err != nil {
			return nil, err
		}
		joined, err := c.join(ctx, left, empty)
		return release.OnError(joined, err, empty.Release())
	})
}

// Release releases all that the join holds.
func (c *chunked) Release() error {
	if c == nil {
		return nil
	}
	err := errors.Join(c.chunks.Release(), c.alone.Release(), release.All([]*held{c.right, c.left, c.joined, c.unmatched, c.unmatchedStill}), release.All(c.pairs), c.chunk.Release())
	c.pairs, c.chunk = nil, nil
	return err
}

// pair is a table of the left side and a chunk of the right side, or parts of them.
type pair struct{ left, right *buffer.Buffer }

func (p pair) retain() error {
	if err := p.left.Retain(); err != nil {
		return err
	}
	if err := p.right.Retain(); err != nil {
		return errors.Join(err, p.left.Release())
	}
	return nil
}

func (p pair) Release() error { return errors.Join(p.left.Release(), p.right.Release()) }

// halved returns two pairs that have the pairs of rows of one. It cuts the larger table, or the other
// one if that has few rows. ofLeft is set if it cut the left one.
func (p pair) halved(ctx context.Context) (list []pair, ofLeft, ok bool, err error) {
	ofLeft = p.left.Bytes() >= p.right.Bytes()
	first, second, ok := halves(ctx, p.side(ofLeft), leastPaired)
	if !ok {
		ofLeft = !ofLeft
		if first, second, ok = halves(ctx, p.side(ofLeft), leastPaired); !ok {
			return nil, false, false, nil
		}
	}
	list = []pair{{first, p.right}, {second, p.right}}
	if !ofLeft {
		list = []pair{{p.left, first}, {p.left, second}}
	}
	// Each pair has a reference to the table that was not cut.
	other := p.side(!ofLeft)
	if err := other.Retain(); err != nil {
		return nil, false, false, errors.Join(err, first.Release(), second.Release())
	}
	if err := other.Retain(); err != nil {
		return nil, false, false, errors.Join(err, first.Release(), second.Release(), other.Release())
	}
	return list, ofLeft, true, nil
}

// side returns the left or the right table.
func (p pair) side(left bool) *buffer.Buffer {
	if left {
		return p.left
	}
	return p.right
}

// push adds a pair to those that are to be joined.
func (c *chunked) push(p pair) error {
	if err := p.retain(); err != nil {
		return err
	}
	c.pairs = append(c.pairs, p)
	return nil
}

// joinPair joins the next pair, or divides it.
func (c *chunked) joinPair(ctx context.Context) (*buffer.Buffer, error) {
	last := len(c.pairs) - 1
	p := c.pairs[last]
	kind := c.kind
	if kind == join.Left {
		kind = join.Inner
	}
	joined, err := c.tables(ctx, p, kind)
	if err == nil {
		c.pairs = c.pairs[:last]
		return release.OnError(joined, p.Release())
	}
	if isTooLarge(err) {
		err = c.dividePair(ctx, p, err)
	}
	return nil, err
}

// dividePair replaces the last pair by its halves.
func (c *chunked) dividePair(ctx context.Context, p pair, cause error) error {
	parts, ofLeft, ok, err := p.halved(ctx)
	if !ok {
		return errors.Join(cause, err)
	}
	c.pairs = c.pairs[:len(c.pairs)-1]
	if err := p.Release(); err != nil {
		return errors.Join(err, parts[0].Release(), parts[1].Release())
	}
	first, second := parts[0], parts[1]
	if c.kind == join.Semi && !ofLeft {
		// A row with a match in the first half is in the result already.
		rest := c.none()
		err := c.keepUnmatched(ctx, first, rest)
		for err == nil && !rest.isEmpty() {
			var left *buffer.Buffer
			if left, err = rest.pop(ctx); err == nil {
				err = c.push(pair{left, second.right})
				err = errors.Join(err, left.Release())
			}
		}
		if err = errors.Join(err, rest.Release(), second.Release()); err != nil {
			return errors.Join(err, first.Release())
		}
	} else {
		c.pairs = append(c.pairs, second)
	}
	c.pairs = append(c.pairs, first)
	return nil
}

// keepUnmatched adds the rows of the left table of a pair that match no row of the right one. It does
// not keep the pair.
func (c *chunked) keepUnmatched(ctx context.Context, p pair, to *held) error {
	unmatched, err := c.tables(ctx, p, join.Anti)
	if err == nil {
		return to.add(ctx, unmatched)
	}
	if !isTooLarge(err) {
		return err
	}
	parts, ofLeft, ok, failure := p.halved(ctx)
	if !ok {
		return errors.Join(err, failure)
	}
	first, second := parts[0], parts[1]
	if ofLeft {
		if err = c.keepUnmatched(ctx, first, to); err == nil {
			err = c.keepUnmatched(ctx, second, to)
		}
		return errors.Join(err, first.Release(), second.Release())
	}
	rest := c.none()
	err = c.keepUnmatched(ctx, first, rest)
	for err == nil && !rest.isEmpty() {
		var left *buffer.Buffer
		if left, err = rest.pop(ctx); err == nil {
			err = errors.Join(c.keepUnmatched(ctx, pair{left, second.right}, to), left.Release())
		}
	}
	return errors.Join(err, rest.Release(), first.Release(), second.Release())
}

// none returns a sequence for rows of the left side.
func (c *chunked) none() *held { return &held{stage: c.stage, schema: c.left.schema} }

// tables joins a pair with another kind of join. The result has the columns of the node.
func (c *chunked) tables(ctx context.Context, p pair, kind join.Kind) (*buffer.Buffer, error) {
	options := c.joinOptions()
	options.Kind = kind
	if kind == join.Inner || kind == join.Cross {
		rowBytes := uint64(max(plan.RowBytesOf(c.plan.Schema()), 1))
		options.MaxRows = max(int64(c.settings.Manager.Budget()/chunkShare/rowBytes), leastRows)
	}
	joined, err := join.Tables(ctx, p.left, p.right, c.plan.On(), options)
	if err != nil || kind == c.kind || kind == join.Anti {
		return joined, err
	}
	// Right columns may be null in a left join.
	columns := make([]*column.Column, joined.NumColumns())
	for i := range columns {
		columns[i] = joined.Column(i)
	}
	half, err := op.Table(c.Schema(), columns, joined.Rows())
	return release.OnError(half, err, joined.Release())
}
