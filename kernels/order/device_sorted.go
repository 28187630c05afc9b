package order

import (
	"errors"
	"math"

	"github.com/gpuframe/gpuframe/internal/keys/rowkey"
	"github.com/gpuframe/gpuframe/memory"
)

// unsortedOnDevice returns the first row that comes before its predecessor, or −1.
func (o *ordering) unsortedOnDevice() (row int64, err error) {
	block, scratch, err := o.call.Scratch(o.unsortedScratch()...)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, block.Release()) }()
	bitmaps := len(o.plan.Sources)
	descent, err := memory.Reinterpret[uint64](scratch[bitmaps+2])
	if err != nil {
		return 0, err
	}
	if o.searchable() {
		err = o.findDescent(descent, scratch[:bitmaps+1])
	} else {
		err = o.compareNeighbours(descent, scratch)
	}
	if err != nil {
		return 0, err
	}
	var first [1]uint64
	if err := descent.Download(o.call.Context(), o.call.Stream, first[:]); err != nil {
		return 0, err
	}
	if first[0] > math.MaxInt64 {
		return -1, nil
	}
	return int64(first[0]), nil
}

// unsortedScratch returns the sizes of the memory that unsortedOnDevice needs: bitmaps,
// words, orders and the result.
func (o *ordering) unsortedScratch() []uint64 {
	words, orders := o.plan.WordsBytes(o.rows), uint64(o.rows)
	if o.searchable() {
		orders = 0
		if _, ok := o.plan.Flip(); ok {
			words = 0
		}
	}
	return append(o.plan.DeviceScratch(), words, orders, 8)
}

// findDescent finds the first row with a word that is less than the word before it.
func (o *ordering) findDescent(descent memory.Slice[uint64], scratch []memory.Slice[uint8]) error {
	all, err := o.encoded(o.all(), scratch)
	if err != nil {
		return err
	}
	all.rows.Counted = o.counted
	if err := all.encode(); err != nil {
		return err
	}
	if err := descent.AsBytes().Fill(o.call.Stream, 0xff); err != nil {
		return err
	}
	flip, _ := all.wordFlip()
	return o.launchSearch(descentNames[o.plan.Segments[0].Width()/8], o.rows, descent, all.words, flip, o.counted, int64(o.rows))
}

// compareNeighbours finds the first row that comes before its predecessor by all words.
func (o *ordering) compareNeighbours(descent memory.Slice[uint64], scratch []memory.Slice[uint8]) error {
	bitmaps := len(o.plan.Sources)
	encoder, err := rowkey.NewDevice(&o.call, o.plan, scratch[:bitmaps])
	if err != nil {
		return err
	}
	rows := rowkey.DeviceRows{Rows: o.rows, Counted: o.counted}
	if err := encoder.Neighbours(rows, scratch[bitmaps], scratch[bitmaps+1]); err != nil {
		return err
	}
	return encoder.FirstBefore(rows, scratch[bitmaps+1], descent)
}

// boundOnDevice finds the bounds of integer sources, and plans shorter words with them. It
// waits for the bounds. A single key is not worth it: constant digits cost nothing.
func (o *ordering) boundOnDevice() (err error) {
	if len(o.sources) == 1 && o.sources[0].Storage != rowkey.Decimal {
		return nil
	}
	var sources []int
	for i := range o.sources {
		if boundable(&o.sources[i]) {
			sources = append(sources, i)
		}
	}
	if len(sources) == 0 {
		return nil
	}
	const each = 3 // elements of a source
	encoder, block, scratch, err := o.encoder(append(o.plan.DeviceScratch(), 8*each*uint64(len(sources))))
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
		own, err := bounds.Slice(each*i, each*i+each)
		if err != nil {
			return err
		}
		find := encoder.Bounds
		if o.sources[source].Storage == rowkey.Decimal {
			find = encoder.DecimalBounds
		}
		if err := find(source, rows, own); err != nil {
			return err
		}
	}
	words := make([]uint64, each*len(sources))
	if err := bounds.Download(o.call.Context(), o.call.Stream, words); err != nil {
		return err
	}
	for i, source := range sources {
		if words[each*i+2] != 0 {
			rowkey.Bounds{Least: words[each*i], Greatest: ^words[each*i+1]}.Apply(&o.sources[source])
		}
	}
	o.plan = rowkey.NewPlan(o.sources)
	return nil
}
