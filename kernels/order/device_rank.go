package order

import (
	"errors"

	"github.com/gpuframe/gpuframe/internal/keys/rowkey"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/lookback"
	"github.com/gpuframe/gpuframe/memory"
)

// encoder returns the encoder of the plan, and memory of the given sizes. The first ones
// are those of the plan's DeviceScratch, which are left out of the result. The caller
// releases the block.
func (o *ordering) encoder(sizes []uint64) (*rowkey.Device, *memory.Block, []memory.Slice[uint8], error) {
	block, scratch, err := o.call.Scratch(sizes...)
	if err != nil {
		return nil, nil, nil, err
	}
	bitmaps := len(o.plan.Sources)
	encoder, err := rowkey.NewDevice(&o.call, o.plan, scratch[:bitmaps])
	if err != nil {
		return nil, nil, nil, errors.Join(err, block.Release())
	}
	return encoder, block, scratch[bitmaps:], nil
}

// rankScratch returns the sizes of the memory that ranks need in addition to that of the
// sort: on a GPU bitmaps, words, orders, groups, their beginnings, the state of tiles and the first
// word.
func (o *ordering) rankScratch() []uint64 {
	if o.rows == 0 || o.call.OnHost() {
		return nil
	}
	n := uint64(o.rows)
	tiles := (n + tieRows - 1) / tieRows
	return append(o.plan.DeviceScratch(), o.plan.WordsBytes(o.rows), n, n*4, n*4+4, lookback.Bytes(tiles, 4), 8)
}

// ranksOnDevice writes the ranks of the rows, as uint32 or, for averages, float64. sorted
// are the rows in order.
func (o *ordering) ranksOnDevice(r ranking, sorted memory.Slice[uint32], out op.Buffers) error {
	if o.rows == 0 {
		return nil
	}
	encoder, block, scratch, err := o.encoder(o.rankScratch())
	if err != nil {
		return err
	}
	return errors.Join(o.writeRanks(r, encoder, sorted, out, scratch), block.Release())
}

func (o *ordering) writeRanks(r ranking, encoder *rowkey.Device, sorted memory.Slice[uint32], out op.Buffers, scratch []memory.Slice[uint8]) error {
	words, orders, groups, begins, state, first := scratch[0], scratch[1], scratch[2], scratch[3], scratch[4], scratch[5]
	rows := rowkey.DeviceRows{Listed: sorted, Rows: o.rows, Counted: o.counted}
	if err := encoder.Neighbours(rows, words, orders); err != nil {
		return err
	}
	if err := o.groups(groups, begins, orders, state); err != nil {
		return err
	}
	nullWord, nullBit := memory.Slice[uint8]{}, 0
	if r.nullsZero {
		// The first bit of the first word is 0 for a null.
		segment := &o.plan.Segments[0]
		nullWord, nullBit = first, segment.WordLength(0)-1
		if err := o.firstWord(encoder, sorted, segment, first); err != nil {
			return err
		}
	}
	ranks, averages := out.Values, memory.Slice[uint8]{}
	if r.method == Average {
		ranks, averages = averages, ranks
	}
	return o.launchTies("order_ranks", o.rows, ranks, averages, sorted, groups, begins, o.counted, int64(o.rows), uint32(r.method), nullWord, uint32(nullBit))
}

// firstWord writes the first word of the first row in order. The rest of the eight bytes
// is zero.
func (o *ordering) firstWord(encoder *rowkey.Device, sorted memory.Slice[uint32], segment *rowkey.Segment, to memory.Slice[uint8]) error {
	if err := to.Fill(o.call.Stream, 0); err != nil {
		return err
	}
	first, err := sorted.Slice(0, 1)
	if err != nil {
		return err
	}
	word, err := to.Slice(0, segment.Width())
	if err != nil {
		return err
	}
	return encoder.Encode(0, 0, rowkey.DeviceRows{Listed: first, Rows: 1}, word)
}
