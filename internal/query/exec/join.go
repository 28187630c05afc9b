package exec

import (
	"context"
	"errors"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/join"
)

// joining joins the rows of two inputs. It holds the right side. The left side streams, if
// each of its rows has its result by itself; otherwise it is held too. If memory does not
// suffice, both sides are divided by a hash of the keys, and each pair of parts is
// joined separately. A part that cannot be divided is joined in chunks of its right side, if the
// left side streams.
type joining struct {
	*stage
	plan    *plan.Join
	started bool
	// left has pieces of the left side to join with right, the whole right side of a part.
	// reading is set while the left input may have more.
	left    pieces
	right   *buffer.Buffer
	index   rightIndex
	current joinPart
	reading bool
	// parts are parts to join, or to divide. chunked joins a part that cannot be divided, or is nil.
	parts   []joinPart
	chunked *chunked
}

func newJoining(s *stage, n *plan.Join) *joining { return &joining{stage: s, plan: n} }

// joinPart is a part of both sides, and how often they were divided.
type joinPart struct {
	left, right *held
	level       int
	// divide is set if memory did not suffice.
	divide error
}

// streams reports whether tables of the left side can be joined one by one.
func (j *joining) streams() bool {
	kind := j.plan.Options().Kind
	return kind != join.Right && kind != join.Full
}

// Next implements buffer.Reader.
func (j *joining) Next(ctx context.Context) (*buffer.Buffer, error) {
	table, err := j.next(ctx)
	return table, j.failed(err)
}

func (j *joining) next(ctx context.Context) (*buffer.Buffer, error) {
	if !j.started {
		j.started = true
		if len(j.inputs) == 0 {
			return nil, errEnd
		}
		if err := j.start(ctx); err != nil {
			return nil, unended(err)
		}
	}
	for {
		var joined *buffer.Buffer
		var err error
		switch {
		case j.chunked != nil:
			if joined, err = j.chunked.next(ctx); err == errEnd {
				err = j.chunked.Release()
				j.chunked = nil
			}
		case !j.left.isEmpty():
			joined, err = j.piece(ctx)
		case j.reading:
			err = j.read(ctx)
		case j.right != nil:
			err = j.endPart()
		case len(j.parts) > 0:
			part := j.parts[0]
			j.parts = j.parts[1:]
			joined, err = j.part(ctx, part)
		default:
			return nil, errEnd
		}
		if err != nil || joined != nil {
			return joined, unended(err)
		}
	}
}

// start holds the right side, and the left side unless it streams.
func (j *joining) start(ctx context.Context) error {
	right, err := j.hold(ctx, j.inputs[1])
	if err != nil {
		return err
	}
	if !j.streams() {
		left, err := j.hold(ctx, j.inputs[0])
		if err != nil {
			return errors.Join(err, right.Release())
		}
		j.parts = append(j.parts, joinPart{left: left, right: right})
		return nil
	}
	j.reading = true
	j.current = joinPart{right: right}
	if j.right, err = right.whole(ctx); err != nil {
		return j.short(ctx, err)
	}
	j.maskFilter()
	return j.findBounds(ctx)
}

// read reads a table of the left side.
func (j *joining) read(ctx context.Context) error {
	table, err := j.inputs[0].Next(ctx)
	if err == errEnd {
		j.reading = false
		return nil
	}
	if err == nil {
		table, err = j.compact(ctx, table)
	}
	if err == nil {
		j.left.push(table)
	}
	return err
}

// piece joins a piece of the left side.
func (j *joining) piece(ctx context.Context) (*buffer.Buffer, error) {
	joined, err := j.left.next(ctx, func(piece *buffer.Buffer) (*buffer.Buffer, error) { return j.probe(ctx, piece) })
	if err != nil {
		return nil, j.short(ctx, err)
	}
	return joined, nil
}

// short makes a part to divide of the rest of the left side and of the right side, if
// that may help after an error. Otherwise it returns the error.
func (j *joining) short(ctx context.Context, err error) error {
	if !isTooLarge(err) {
		return err
	}
	failure := errors.Join(j.index.Release(), j.right.Release())
	j.right = nil
	tables := j.left.take()
	reader := buffer.Reader(&stage{node: j.plan.Inputs()[0]})
	if j.reading {
		reader = j.inputs[0]
	}
	j.reading = false
	part := j.current
	j.current = joinPart{}
	if failure != nil {
		return errors.Join(err, failure, part.right.Release(), release.All(tables))
	}
	if part.left, failure = j.hold(ctx, reader, tables...); failure != nil {
		return errors.Join(err, failure, part.right.Release())
	}
	part.divide = err
	j.parts = append(j.parts, part)
	return nil
}

// endPart releases the right side of a part after the end of its left side.
func (j *joining) endPart() error {
	err := errors.Join(j.index.Release(), j.current.right.Release(), j.right.Release())
	j.right, j.current = nil, joinPart{}
	return err
}

// part joins a part of both sides, which it takes over, or divides it.
func (j *joining) part(ctx context.Context, part joinPart) (*buffer.Buffer, error) {
	err := part.divide
	if err == nil {
		var left, right *buffer.Buffer
		left, err = part.left.whole(ctx)
		if err == nil {
			right, err = part.right.whole(ctx)
		}
		if err == nil && j.streams() {
			j.left.push(left)
			j.right, j.current = right, joinPart{right: part.right, level: part.level}
			return nil, part.left.Release()
		}
		var joined *buffer.Buffer
		if err == nil {
			joined, err = j.join(ctx, left, right)
		}
		if joined, err = release.OnError(joined, err, left.Release(), right.Release()); err == nil {
			return release.OnError(joined, part.left.Release(), part.right.Release())
		}
		if !isTooLarge(err) {
			return nil, errors.Join(err, part.left.Release(), part.right.Release())
		}
	}
	failure := errIndivisible
	if len(j.plan.Options().Keys) > 0 && part.level < mostLevels {
		failure = j.divide(ctx, part)
	}
	if errors.Is(failure, errIndivisible) && j.streams() {
		j.chunked = j.inChunks(part)
		return nil, nil
	}
	if failure != nil {
		failure = errors.Join(err, failure)
	}
	return nil, errors.Join(failure, part.left.Release(), part.right.Release())
}

// divide divides both sides of a part.
func (j *joining) divide(ctx context.Context, part joinPart) error {
	leftKeys, rightKeys, err := j.plan.HashKeys()
	if err != nil {
		return err
	}
	left, err := part.left.byHash(ctx, j.hash(leftKeys, part.left), part.level)
	if err != nil {
		return err
	}
	right, err := part.right.byHash(ctx, j.hash(rightKeys, part.right), part.level)
	if err != nil {
		return errors.Join(err, release.All(left))
	}
	var parts []joinPart
	for i := range divisions {
		if left[i].isEmpty() && right[i].isEmpty() {
			continue
		}
		parts = append(parts, joinPart{left: left[i], right: right[i], level: part.level + 1})
	}
	if len(parts) < 2 {
		return errors.Join(errIndivisible, release.All(left), release.All(right))
	}
	j.parts = append(j.parts, parts...)
	return nil
}

// hash returns what rows of one side are divided by: the hash of the keys. A row with a null
// key that matches nothing may be in any part, so it has the hash of its other columns.
func (j *joining) hash(keys []expr.Expr, side *held) expr.Expr {
	hash := expr.Hash(keys...)
	if j.plan.Options().NullsEqual {
		return hash
	}
	var all []expr.Expr
	for _, f := range side.schema.Fields() {
		c := expr.Col(f.Name)
		if _, _, err := expr.Hash(c).Type(side.schema); err == nil {
			all = append(all, c)
		}
	}
	if len(all) == 0 {
		return hash
	}
	null := keys[0].IsNull()
	for _, k := range keys[1:] {
		null = null.Or(k.IsNull())
	}
	return expr.If(null, expr.Hash(all...), hash)
}

func (j *joining) join(ctx context.Context, left, right *buffer.Buffer) (*buffer.Buffer, error) {
	return join.Tables(ctx, left, right, j.plan.On(), j.joinOptions())
}

func (j *joining) joinOptions() join.Options {
	planned := j.plan.Options()
	options := join.Options{
		Options: j.options(), Kind: planned.Kind, NullsEqual: planned.NullsEqual,
		Where: planned.Where, Suffix: planned.Suffix, Order: join.LeftOrder,
	}
	if planned.AnyOrder {
		options.Order = join.Unspecified
	}
	return options
}

// Close implements buffer.Reader.
func (j *joining) Close() error {
	err := errors.Join(j.endPart(), j.left.Release(), j.chunked.Release())
	j.chunked = nil
	for _, p := range j.parts {
		err = errors.Join(err, p.left.Release(), p.right.Release())
	}
	j.parts = nil
	return errors.Join(err, j.stage.Close())
}
