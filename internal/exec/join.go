package exec

import (
	"context"
	"errors"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/plan"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/join"
)

// joining joins the rows of two inputs. It holds the right side. The left side streams, if
// each of its rows has its result by itself; otherwise it is held too. If memory does not
// suffice, both sides are divided by a hash of the keys, and the parts joined one after
// the other.
type joining struct {
	*stage
	of      *plan.Join
	started bool
	// right is the right side while the left one streams.
	right *held
	whole *buffer.Buffer
	// made are results to return, parts are parts to join.
	made  []*buffer.Buffer
	parts []joinPart
}

// joinPart is a part of both sides, and how often they were divided.
type joinPart struct {
	left, right *held
	level       int
}

// streams reports whether tables of the left side can be joined one by one.
func (j *joining) streams() bool {
	kind := j.of.Options().Kind
	return kind != join.Right && kind != join.Full
}

// Next implements buffer.Reader.
func (j *joining) Next(ctx context.Context) (*buffer.Buffer, error) {
	made, err := j.next(ctx)
	return made, j.failed(err)
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
		switch {
		case len(j.made) > 0:
			next := j.made[0]
			j.made = j.made[1:]
			return next, nil
		case j.whole != nil:
			if err := j.stream(ctx); err != nil {
				return nil, unended(err)
			}
		case len(j.parts) > 0:
			part := j.parts[0]
			j.parts = j.parts[1:]
			if err := j.joinPart(ctx, part); err != nil {
				return nil, unended(err)
			}
		default:
			return nil, errEnd
		}
	}
}

// start holds the right side.
func (j *joining) start(ctx context.Context) error {
	right, err := j.hold(ctx, j.inputs[1])
	if err != nil {
		return err
	}
	if j.streams() {
		j.right = right
		j.whole, err = right.whole(ctx)
		if err == nil || !j.divisible(err) {
			return err
		}
		j.right = nil
	}
	return j.both(ctx, nil, right)
}

// divisible reports whether dividing both sides may help after an error.
func (j *joining) divisible(err error) bool { return isShort(err) && len(j.of.Options().Keys) > 0 }

// both holds the left side, after a table of it, for a join by parts. It takes over the table
// and the right side.
func (j *joining) both(ctx context.Context, table *buffer.Buffer, right *held) error {
	reader := &ahead{Reader: j.inputs[0]}
	if table != nil {
		reader.tables = append(reader.tables, table)
	}
	left, err := j.hold(ctx, reader)
	if err != nil {
		return errors.Join(err, right.release())
	}
	j.parts = append(j.parts, joinPart{left, right, 0})
	return nil
}

// stream joins one table of the left side with the whole right side.
func (j *joining) stream(ctx context.Context) error {
	left, err := j.inputs[0].Next(ctx)
	if err == errEnd {
		return j.dropRight()
	}
	if err == nil {
		left, err = j.compact(ctx, left)
	}
	if err != nil {
		return err
	}
	j.made, err = halving(ctx, left, func(part *buffer.Buffer) ([]*buffer.Buffer, error) {
		made, err := j.join(ctx, part, j.whole)
		if err != nil {
			return nil, err
		}
		return []*buffer.Buffer{made}, nil
	})
	if !j.divisible(err) {
		_, err = releasing(nil, err, left)
		return err
	}
	_, err = releasing(nil, nil, j.whole)
	right := j.right
	j.whole, j.right = nil, nil
	if err != nil {
		_, err = releasing(nil, errors.Join(err, right.release()), left)
		return err
	}
	return j.both(ctx, left, right)
}

// dropRight releases the right side when the left one has ended.
func (j *joining) dropRight() error {
	_, err := releasing(nil, j.right.release(), j.whole)
	j.whole, j.right = nil, nil
	return err
}

// joinPart joins a part of both sides, which it takes over, or divides it.
func (j *joining) joinPart(ctx context.Context, part joinPart) error {
	made, err := j.joinHeld(ctx, part)
	if j.divisible(err) && part.level < mostLevels {
		var failure error
		if failure = j.divide(ctx, part); failure == nil {
			err = nil
		} else {
			err = errors.Join(err, failure)
		}
	}
	if failure := releaseAll([]*held{part.left, part.right}); failure != nil || err != nil {
		_, err = releasing(nil, errors.Join(err, failure), made...)
		return err
	}
	j.made = append(j.made, made...)
	return nil
}

// joinHeld joins all rows of both sides. If each left row has its result by itself, it does
// so with parts of the left side while memory is short.
func (j *joining) joinHeld(ctx context.Context, part joinPart) ([]*buffer.Buffer, error) {
	left, err := part.left.whole(ctx)
	if err != nil {
		return nil, err
	}
	right, err := part.right.whole(ctx)
	if err != nil {
		_, err = releasing(nil, err, left)
		return nil, err
	}
	join := func(left *buffer.Buffer) ([]*buffer.Buffer, error) {
		made, err := j.join(ctx, left, right)
		if err != nil {
			return nil, err
		}
		return []*buffer.Buffer{made}, nil
	}
	var made []*buffer.Buffer
	if part.level > 0 && j.streams() {
		made, err = halving(ctx, left, join)
	} else {
		made, err = join(left)
	}
	if _, err = releasing(nil, err, left, right); err != nil {
		_, err = releasing(nil, err, made...)
		return nil, err
	}
	return made, nil
}

// divide divides both sides of a part.
func (j *joining) divide(ctx context.Context, part joinPart) error {
	var leftKeys, rightKeys []expr.Expr
	for _, k := range j.of.Options().Keys {
		leftKeys, rightKeys = append(leftKeys, k.Left), append(rightKeys, k.Right)
	}
	left, err := part.left.byHash(ctx, j.hash(leftKeys, part.left), part.level)
	if err != nil {
		return err
	}
	right, err := part.right.byHash(ctx, j.hash(rightKeys, part.right), part.level)
	if err != nil {
		return errors.Join(err, releaseAll(left))
	}
	var parts []joinPart
	for i := range divisions {
		if left[i].isEmpty() && right[i].isEmpty() {
			continue
		}
		parts = append(parts, joinPart{left[i], right[i], part.level + 1})
	}
	if len(parts) < 2 {
		return errors.Join(errIndivisible, releaseAll(left), releaseAll(right))
	}
	j.parts = append(j.parts, parts...)
	return nil
}

// hash returns what rows of one side are divided by: the hash of the keys. A row with a null
// key that matches nothing may be in any part, so it has the hash of its other columns.
func (j *joining) hash(keys []expr.Expr, side *held) expr.Expr {
	hash := expr.Hash(keys...)
	if j.of.Options().NullsEqual {
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
	options := j.of.Options()
	return join.Tables(ctx, left, right, j.of.On(), join.Options{
		Options: j.options(), Kind: options.Kind, NullsEqual: options.NullsEqual,
		Where: options.Where, Suffix: options.Suffix, Order: join.LeftOrder,
	})
}

// Close implements buffer.Reader.
func (j *joining) Close() error {
	_, err := releasing(nil, j.dropRight(), j.made...)
	for _, p := range j.parts {
		err = errors.Join(err, p.left.release(), p.right.release())
	}
	j.made, j.parts = nil, nil
	return errors.Join(err, j.stage.Close())
}
