package dictionary

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/window"
	"github.com/gpuframe/gpuframe/memory"
)

// distinct is what is known of a column's distinct values while an operation runs.
type distinct struct {
	call   op.Call
	column *column.Column
	// keys is what is compared: the column itself or, of a dictionary, codes that are
	// equal if the values are.
	keys *column.Column
	// rows is the row count, if only the device knows it.
	rows     memory.Slice[int64]
	withNull bool

	// valid are the validity bits of the keys, if there are any, of which number bit is
	// the first.
	valid memory.Slice[uint8]
	bit   int

	// block holds what follows. bits marks the rows that are the first of their key.
	// The rest is there only if codes are wanted: for each row, in codes, the first row
	// of its key and later its code; in isFirst 1 for the first row of a key and 0 for
	// others. padded is codes with d.bit unused ones ahead of the first, so that codes
	// and validity have one offset.
	block   *memory.Block
	padded  memory.Slice[uint32]
	codes   memory.Slice[uint32]
	isFirst memory.Slice[int32]
	bits    memory.Slice[uint8]
	// ranks count the first rows up to and with each row.
	ranks *column.Column
}

// wanted says what find is to find.
type wanted struct {
	// nulls makes null one more key.
	nulls bool
	// codes asks for the code of each row, not only for the first rows.
	codes bool
}

// find finds the first row of every key. The caller closes what it returns.
func find(ctx context.Context, c *column.Column, w wanted, options Options) (*distinct, error) {
	call, err := op.Begin(ctx, options, c)
	if err != nil {
		return nil, err
	}
	if c.Len() > math.MaxInt32 {
		return nil, fmt.Errorf("%d: at most %d can be numbered: %w", c.Len(), math.MaxInt32, ErrTooLong)
	}
	d := &distinct{call: call, column: c, withNull: w.nulls}
	if err := d.begin(ctx, w.codes); err != nil {
		return nil, errors.Join(err, d.close())
	}
	return d, nil
}

func (d *distinct) begin(ctx context.Context, codes bool) (err error) {
	if d.keys, err = d.comparable(ctx); err != nil {
		return err
	}
	if valid, bit, err := d.keys.Validity(); err == nil { // else there is no bitmap
		d.valid, d.bit = valid, bit
	}
	d.rows = d.column.DeviceRows()
	if err := d.find(codes); err != nil || !codes {
		return err
	}
	return d.rank(ctx)
}

// withDeviceRows returns a column whose row count, if it has one, is in device memory.
// If exact is true it has none where the host knows the number. The caller releases it.
func withDeviceRows(ctx context.Context, c *column.Column, exact bool) (*column.Column, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	_, known := c.HostRows()
	if c.RowCount() != nil && (known && exact || c.DeviceRows().Len() == 0) {
		return c.WithHostRows(ctx)
	}
	return c, c.Retain()
}

// options are those of the operators that are called on the way.
func (d *distinct) options() kernels.Options {
	return kernels.Options{Stream: d.call.Stream, Manager: d.call.Manager, Tag: d.call.Tag}
}

// find allocates and marks. If codes are wanted they are first rows then. A type that
// cannot be compared is an error without rows too: the host may know that there are none
// where a GPU does not.
func (d *distinct) find(codes bool) error {
	k, err := keysOf(d.keys)
	if err != nil {
		return err
	}
	n := uint64(d.column.Len())
	sizes := []uint64{(n + 31) / 32 * 4, 0, 0}
	if codes {
		sizes[1], sizes[2] = 4*(uint64(d.bit)+n), 4*n
	}
	block, slices, err := d.call.Allocate(sizes...)
	if err != nil {
		return err
	}
	d.block, d.bits = block, slices[0]
	if d.padded, err = memory.Reinterpret[uint32](slices[1]); err != nil {
		return err
	}
	if codes {
		if d.codes, err = d.padded.Slice(d.bit, d.padded.Len()); err != nil {
			return err
		}
	}
	if d.isFirst, err = memory.Reinterpret[int32](slices[2]); err != nil {
		return err
	}
	if n == 0 {
		return nil
	}
	return d.mark(k, codes)
}

// mark finds the first rows, with a hash table that lives only here.
func (d *distinct) mark(k keys, codes bool) (err error) {
	if d.call.OnHost() {
		return d.markOnHost(k)
	}
	t, err := d.newTable(d.keys.Len())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.slots.Release()) }()
	if err := d.insert(k, t); err != nil {
		return err
	}
	if codes {
		return d.launch(codesModule, "first_rows", d.keys.Len(), d.argument(t), d.codes, d.isFirst, d.bits, d.nullWord())
	}
	if err := d.bits.Fill(d.call.Stream, 0); err != nil {
		return err
	}
	return d.launch(codesModule, "mark_firsts", t.slots.Len(), d.argument(t), d.bits, d.nullWord())
}

// insert puts the rows into a table. If codes are wanted it leaves the slot of each
// row in them.
func (d *distinct) insert(k keys, t table) error {
	arguments := append([]any{d.argument(t)}, k.arguments()...)
	return d.launch(k.module, k.kernel, d.column.Len(), append(arguments, d.codes)...)
}

// rank sums up the marks.
func (d *distinct) rank(ctx context.Context) error {
	marks, err := column.New(column.Data{
		Type: arrow.PrimitiveTypes.Int32, Length: d.column.Len(),
		Buffers: []column.Bytes{{}, d.isFirst.AsBytes()}, Manager: d.call.Manager,
	})
	if err != nil {
		return err
	}
	d.ranks, err = window.CumulativeSum(ctx, marks, window.Options{Options: d.options()})
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
	return d.launch(codesModule, "codes_of", d.column.Len(), d.argument(table{}), d.codes, d.ranks, d.nullWord())
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
		Buffers: []column.Bytes{{}, d.bits}, Manager: d.call.Manager,
	})
}

func (d *distinct) close() error {
	err := errors.Join(d.ranks.Release(), d.keys.Release())
	if d.block != nil {
		err = errors.Join(err, d.block.Release())
	}
	return err
}
