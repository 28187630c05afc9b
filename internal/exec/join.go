package exec

import (
	"context"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/plan"
	"github.com/gpuframe/gpuframe/kernels/join"
)

// joining joins the rows of two inputs. It collects the right side. The left side streams,
// if each of its rows has its result by itself; otherwise it is collected too.
type joining struct {
	*stage
	of    *plan.Join
	right *buffer.Buffer
	done  bool
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
	if j.done || len(j.inputs) == 0 {
		return nil, errEnd
	}
	if j.right == nil {
		right, err := j.collect(ctx, j.inputs[1])
		if err != nil {
			return nil, unended(err)
		}
		j.right = right
	}
	left, err := j.left(ctx)
	if err != nil {
		return nil, err
	}
	options := j.of.Options()
	made, err := join.Tables(ctx, left, j.right, j.of.On(), join.Options{
		Options: j.options(), Kind: options.Kind, NullsEqual: options.NullsEqual,
		Where: options.Where, Suffix: options.Suffix, Order: join.LeftOrder,
	})
	return releasing(made, err, left)
}

// left returns the next table of the left side, or all of it.
func (j *joining) left(ctx context.Context) (*buffer.Buffer, error) {
	if !j.streams() {
		j.done = true
		left, err := j.collect(ctx, j.inputs[0])
		return left, unended(err)
	}
	left, err := j.inputs[0].Next(ctx)
	if err != nil {
		return nil, err
	}
	return j.compact(ctx, left)
}

// Close implements buffer.Reader.
func (j *joining) Close() error {
	right := j.right
	j.right = nil
	_, err := releasing(nil, j.stage.Close(), right)
	return err
}
