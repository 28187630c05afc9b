package dictionary

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/kernels/internal/operator"
	"github.com/gpuframe/gpuframe/kernels/scan"
	"github.com/gpuframe/gpuframe/memory"
)

// distinct is what is known of a column's distinct values while an operation runs.
type distinct struct {
	call     operator.Call
	column   *column.Column
	rows     memory.Slice[int64]
	withNull bool

	// valid are the column's validity bits, of which number bit is the first, where it
	// has any.
	valid memory.Slice[uint8]
	bit   int

	// block holds the three below, for each row: the first row of its key, then its
	// code; 1 where it is the first one itself; and that as bits. There are bit codes
	// ahead of the first one, so that codes and validity have one offset.
	block   *memory.Block
	padded  memory.Slice[uint32]
	codes   memory.Slice[uint32]
	isFirst memory.Slice[int32]
	bits    memory.Slice[uint8]
	// ranks count the first rows up to and with each row.
	ranks *column.Column
}

// find finds the first row of every key. The caller closes what it returns.
func find(ctx context.Context, c *column.Column, withNull bool, options Options) (*distinct, error) {
	call, err := operator.Begin(ctx, options.Options, c)
	if err != nil {
		return nil, err
	}
	if c.Len() > math.MaxInt32 {
		return nil, fmt.Errorf("%d: at most %d can be numbered: %w", c.Len(), math.MaxInt32, ErrTooLong)
	}
	d := &distinct{call: call, column: c, rows: options.Rows, withNull: withNull}
	if valid, bit, err := c.Validity(); err == nil { // else there is no bitmap
		d.valid, d.bit = valid, bit
	}
	if err := d.find(ctx); err != nil {
		return nil, errors.Join(err, d.close())
	}
	return d, nil
}

func (d *distinct) find(ctx context.Context) error {
	if d.rows.Len() > 0 {
		if err := d.rows.Block().OrderBefore(d.call.Stream); err != nil {
			return err
		}
	}
	n := uint64(d.column.Len())
	block, slices, err := d.call.Allocate(4*(uint64(d.bit)+n), 4*n, (n+31)/32*4)
	if err != nil {
		return err
	}
	d.block, d.bits = block, slices[2]
	if d.padded, err = memory.Reinterpret[uint32](slices[0]); err != nil {
		return err
	}
	if d.codes, err = d.padded.Slice(d.bit, d.padded.Len()); err != nil {
		return err
	}
	if d.isFirst, err = memory.Reinterpret[int32](slices[1]); err != nil {
		return err
	}
	if n > 0 {
		if err = d.mark(); err != nil {
			return err
		}
	}
	return d.rank(ctx)
}

// mark finds the first rows, by a hash table that lives only here.
func (d *distinct) mark() (err error) {
	source := d.column
	if source.Dictionary() != nil {
		if source, err = source.Indices(); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, source.Release()) }()
	}
	k, err := keysOf(source)
	if err != nil {
		return err
	}
	if d.call.OnHost() {
		return d.markOnHost(k)
	}
	n := uint64(source.Len())
	size := uint64(1) << bits.Len64(2*n-1) // at most half full
	slots, err := memory.NewSlice[uint32](d.call.Manager, int(size)+1, memory.AllocateOptions{Stream: d.call.Stream, Tag: d.call.Tag})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, slots.Release()) }()
	if err := slots.Fill(d.call.Stream, math.MaxUint32); err != nil {
		return err
	}
	arguments := append([]any{d.table(slots)}, k.arguments()...)
	if err := d.launch(k.module, k.kernel, append(arguments, d.codes)...); err != nil {
		return err
	}
	return d.launch(codesModule, "first_rows", d.table(slots), d.codes, d.isFirst, d.bits, d.nullWord())
}

// rank sums up the marks.
func (d *distinct) rank(ctx context.Context) error {
	marks, err := column.New(column.Data{
		Type: arrow.PrimitiveTypes.Int32, Length: d.column.Len(),
		Buffers: []column.Bytes{{}, d.isFirst.AsBytes()},
	})
	if err != nil {
		return err
	}
	options := scan.Options{}
	options.Stream, options.Manager, options.Tag = d.call.Stream, d.call.Manager, d.call.Tag
	d.ranks, err = scan.CumulativeSum(ctx, marks, options)
	return errors.Join(err, marks.Release())
}

// encode turns first rows into codes.
func (d *distinct) encode() error {
	if d.column.Len() == 0 {
		return nil
	}
	if d.call.OnHost() {
		return d.encodeOnHost()
	}
	return d.launch(codesModule, "codes_of", d.table(memory.Slice[uint32]{}), d.codes, d.ranks, d.nullWord())
}

func (d *distinct) nullWord() uint32 {
	if d.withNull {
		return 1
	}
	return 0
}

// firsts returns the marks as a column of booleans.
func (d *distinct) firsts() (*column.Column, error) {
	return column.New(column.Data{
		Type: arrow.FixedWidthTypes.Boolean, Length: d.column.Len(),
		Buffers: []column.Bytes{{}, d.bits},
	})
}

func (d *distinct) close() error {
	err := d.ranks.Release()
	if d.block != nil {
		err = errors.Join(err, d.block.Release())
	}
	return err
}
