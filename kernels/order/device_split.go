package order

import (
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/keys/radix"
	"github.com/gpuframe/gpuframe/internal/keys/rowkey"
	"github.com/gpuframe/gpuframe/internal/op/lookback"
	"github.com/gpuframe/gpuframe/memory"
)

// split returns the plan of a single nullable key of 64 bits without its bit of nulls, or
// nil for other plans. Its nulls are divided from the other rows before these are sorted:
// 65 bits would take a second word.
func (o *ordering) split() *rowkey.Plan {
	if len(o.sources) != 1 || !o.plan.Exact() || o.plan.Bits() != rowkey.WordBits+1 {
		return nil
	}
	s := o.sources[0]
	switch s.Storage {
	case rowkey.Unsigned, rowkey.Signed, rowkey.Float:
	default:
		return nil
	}
	s.Nullable = false
	return rowkey.NewPlan([]rowkey.Source{s})
}

// splitSort sorts row numbers on a GPU by a nullable key of 64 bits.
type splitSort struct {
	*ordering
	// valid is the plan of the rows that are not null.
	valid *rowkey.Plan
}

// radix returns the sort of the rows that are not null.
func (p *splitSort) radix() radix.Sort {
	return radix.Sort{Width: rowkey.WordBits, High: rowkey.WordBits, Rows: p.rows, Numbers: radix.GivenNumbers, DropKeys: true}
}

// scratch are a bitmap, words, two buffers of keys and of numbers, the numbers of nulls, the
// number of other rows, and the states of the sort and of tiles.
func (p *splitSort) scratch() []uint64 {
	s := p.radix()
	second, numbers := uint64(0), uint64(0)
	if s.SecondBuffers() {
		second, numbers = s.KeyBytes(), s.NumberBytes()
	}
	first := uint64(0)
	if p.sources[0].NullsFirst {
		first = s.NumberBytes()
	}
	tiles := (uint64(p.rows) + tieRows - 1) / tieRows
	return append(p.plan.DeviceScratch(),
		s.KeyBytes(), s.KeyBytes(), second, first, numbers, s.NumberBytes(), 8, s.StateBytes(), lookback.Bytes(tiles, 4))
}

func (p *splitSort) run(rows memory.Slice[uint32], scratch []memory.Slice[uint8]) error {
	encoder, err := rowkey.NewDevice(&p.call, p.valid, scratch[:1])
	if err != nil {
		return err
	}
	words, count, state := scratch[1], scratch[7], scratch[9]
	buffers := radix.Buffers{
		Keys: [2]memory.Slice[uint8](scratch[2:4]), Numbers: [2]memory.Slice[uint8](scratch[4:6]), State: scratch[8],
	}
	nullsFirst := uint32(1)
	if !p.sources[0].NullsFirst {
		nullsFirst, buffers.Numbers[0] = 0, rows.AsBytes()
	}
	if err := encoder.Encode(0, 0, rowkey.DeviceRows{Rows: p.rows, Counted: p.counted}, words); err != nil {
		return err
	}
	for _, s := range []memory.Slice[uint8]{state, count} { // without rows no tile writes the count
		if err := s.Fill(p.call.Stream, 0); err != nil {
			return err
		}
	}
	s := p.radix()
	f, err := p.call.Kernel(&tieKernels, "ties", "order_split")
	if err != nil {
		return err
	}
	valid, bit := encoder.Validity(0)
	err = f.Launch(p.call.Stream, device.Dim3{X: uint32((p.rows + tieRows - 1) / tieRows)}, device.Dim3{X: tieThreads}, 0,
		buffers.Keys[s.Source()], buffers.Numbers[s.Source()], scratch[6], count, words, valid, uint64(bit), p.counted, int64(p.rows), state)
	if err != nil {
		return err
	}
	if s.Counted, err = memory.Reinterpret[int64](count); err != nil {
		return err
	}
	if err := s.Run(&p.call, buffers); err != nil {
		return err
	}
	return p.launchTies("order_join", p.rows, rows, buffers.Numbers[0], scratch[6], count, nullsFirst, p.counted, int64(p.rows))
}
