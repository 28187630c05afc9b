package order

import (
	"errors"
	"math"

	"github.com/gpuframe/gpuframe/internal/rowkey"
	"github.com/gpuframe/gpuframe/memory"
)

// unsortedOnDevice returns the first row that comes before its predecessor, or −1.
func (o *ordering) unsortedOnDevice() (row int64, err error) {
	encoder, block, scratch, err := o.encoder(append(o.plan.DeviceScratch(), o.plan.WordsBytes(o.rows), uint64(o.rows), 8))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, block.Release()) }()
	rows := rowkey.DeviceRows{Rows: o.rows, Counted: o.counted}
	if err := encoder.Neighbours(rows, scratch[0], scratch[1]); err != nil {
		return 0, err
	}
	found, err := memory.Reinterpret[uint64](scratch[2])
	if err != nil {
		return 0, err
	}
	if err := encoder.FirstBefore(rows, scratch[1], found); err != nil {
		return 0, err
	}
	var first [1]uint64
	if err := found.Download(o.call.Context(), o.call.Stream, first[:]); err != nil {
		return 0, err
	}
	if first[0] > math.MaxInt64 {
		return -1, nil
	}
	return int64(first[0]), nil
}

// searchOnDevice writes, for each row from sorted on, the number of the first of the rows
// before sorted that does not come before it or, if upper is set, that comes after it.
func (o *ordering) searchOnDevice(sorted int, upper bool, out memory.Slice[uint32]) error {
	n := o.rows - sorted
	if n == 0 {
		return nil
	}
	encoder, block, scratch, err := o.encoder(append(o.plan.DeviceScratch(), o.plan.WordsBytes(o.rows), uint64(n)*4))
	if err != nil {
		return err
	}
	other, err := memory.Reinterpret[uint32](scratch[1])
	if err == nil {
		lows, highs := out, other
		if upper {
			lows, highs = other, out
		}
		err = o.launchTies("order_limits", n, lows, highs, uint32(sorted), uint64(n))
		if err == nil {
			err = encoder.Narrow(sorted, n, lows, highs, scratch[0])
		}
	}
	return errors.Join(err, block.Release())
}

// boundOnDevice finds the bounds of integer sources, and plans shorter words with them. It
// waits for the bounds. A single key is not worth it: constant digits cost nothing.
func (o *ordering) boundOnDevice() (err error) {
	if len(o.sources) == 1 {
		return nil
	}
	var sources []int
	for i := range o.sources {
		if s := &o.sources[i]; s.Storage == rowkey.Signed || s.Storage == rowkey.Unsigned {
			sources = append(sources, i)
		}
	}
	if len(sources) == 0 {
		return nil
	}
	encoder, block, scratch, err := o.encoder(append(o.plan.DeviceScratch(), 16*uint64(len(sources))))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, block.Release()) }()
	bounds, err := memory.Reinterpret[uint64](scratch[0])
	if err != nil {
		return err
	}
	rows := rowkey.DeviceRows{Rows: o.rows, Counted: o.counted}
	for i, source := range sources {
		pair, err := bounds.Slice(2*i, 2*i+2)
		if err != nil {
			return err
		}
		if err := encoder.Bounds(source, rows, pair); err != nil {
			return err
		}
	}
	found := make([]uint64, 2*len(sources))
	if err := bounds.Download(o.call.Context(), o.call.Stream, found); err != nil {
		return err
	}
	for i, source := range sources {
		rowkey.Bounds{Least: found[2*i], Greatest: ^found[2*i+1]}.Apply(&o.sources[source])
	}
	o.plan = rowkey.NewPlan(o.sources)
	return nil
}
