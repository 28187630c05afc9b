package join

import (
	"context"
	"errors"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
)

// run is one call of an operator.
type run struct {
	call    op.Call
	options Options
	// left and right have exactly their rows, and leftKeys and rightKeys columns of equal
	// types.
	left, right         *buffer.Buffer
	leftKeys, rightKeys []*column.Column
	result              result
	// kept is set for a build side that stays behind the call: its memory has the tag of
	// results.
	kept bool
	// probed is the number of rows of the probe side, if it is known when the build side is
	// made.
	probed int
	held   release.Stack
}

// begin prepares a join up to the keys. The caller closes the run.
func begin(ctx context.Context, left, right *buffer.Buffer, on []On, options Options) (*run, error) {
	if err := options.check(on); err != nil {
		return nil, err
	}
	on = options.withNulls(left.Schema(), right.Schema(), on)
	r := &run{options: options}
	if err := r.open(ctx, left, right, on, on); err != nil {
		return nil, errors.Join(err, r.close())
	}
	return r, nil
}

// close releases what the run holds.
func (r *run) close() error { return r.held.Release() }

// open prepares both tables. shared are the keys that are one column of the result if their
// names are equal.
func (r *run) open(ctx context.Context, left, right *buffer.Buffer, on, shared []On) (err error) {
	if r.left, err = r.exact(ctx, "left", left); err != nil {
		return err
	}
	if r.right, err = r.exact(ctx, "right", right); err != nil {
		return err
	}
	if r.result, err = planResult(left.Schema(), right.Schema(), shared, &r.options); err != nil {
		return err
	}
	if !r.options.Where.IsZero() {
		if err := r.result.checkCondition(left.Schema(), right.Schema(), r.options.Where); err != nil {
			return err
		}
	}
	if r.options.Manager == nil {
		r.options.Manager = left.Manager()
	}
	if r.call, err = op.Begin(ctx, r.options.Options, append(columnsOf(r.left), columnsOf(r.right)...)...); err != nil {
		return err
	}
	keys, err := keysOf(ctx, r.left, r.right, on, r.scratch())
	if err != nil {
		return err
	}
	for _, side := range keys {
		for _, c := range side {
			r.held.Add(c)
		}
	}
	r.leftKeys, r.rightKeys = keys[0], keys[1]
	// On the host the following steps read keys that have just been computed.
	return r.waitIdle()
}

// exact returns a table with a number of rows that the host knows.
func (r *run) exact(ctx context.Context, side string, table *buffer.Buffer) (*buffer.Buffer, error) {
	if err := table.Check(); err != nil {
		return nil, err
	}
	if err := checkSide(side, table.Capacity()); err != nil {
		return nil, err
	}
	if rows := table.Rows(); rows.Shared == nil && rows.Device.Len() == 0 {
		if err := table.Retain(); err != nil {
			return nil, err
		}
		r.held.Add(table)
		return table, nil // its columns remember what is known of them
	}
	n, err := table.NumRows(ctx)
	if err != nil {
		return nil, err
	}
	cut, err := table.Slice(0, n)
	if err == nil {
		r.held.Add(cut)
	}
	return cut, err
}

// waitIdle waits on the host for operators that have written the memory that is read next.
func (r *run) waitIdle() error {
	if !r.call.OnHost() {
		return nil
	}
	return r.call.WaitIdle(r.call.Context())
}

// scratch are the options of operators with results that are released before the call
// ends.
func (r *run) scratch() kernels.Options {
	return kernels.Options{Stream: r.call.Stream, Manager: r.call.Manager, Tag: op.ScratchTag}
}

// building are the options of operators with results that the build side holds.
func (r *run) building() kernels.Options {
	if r.kept {
		return r.resultOptions()
	}
	return r.scratch()
}

func (r *run) resultOptions() kernels.Options {
	return kernels.Options{Stream: r.call.Stream, Manager: r.call.Manager, Tag: r.call.Tag}
}

func rowsOf(table *buffer.Buffer) int { return int(table.Capacity()) }
