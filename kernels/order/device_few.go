package order

import (
	"github.com/gpuframe/gpuframe/internal/keys/rowkey"
	"github.com/gpuframe/gpuframe/internal/op/strategy"
	"github.com/gpuframe/gpuframe/memory"
)

// fewSort sorts few row numbers on a GPU in one launch, by all words and tails. A radix sort takes
// a launch for each digit of each word, and the host waits for the ties of each word.
type fewSort struct{ *ordering }

// sortsFew reports whether one block sorts n rows.
func (o *ordering) sortsFew(n int) bool {
	most := rowkey.FewRows
	if forced := strategy.OfSort(o.call.Context()).FewRows; forced != 0 {
		most = min(most, forced)
	}
	return !o.call.OnHost() && n <= most && o.plan.SortsFew()
}

// scratch are bitmaps, and words.
func (s fewSort) scratch() []uint64 {
	return append(s.plan.DeviceScratch(), s.plan.FewBytes(s.rows, 0, 0))
}

func (s fewSort) run(rows memory.Slice[uint32], scratch []memory.Slice[uint8]) error {
	bitmaps := len(s.plan.Sources)
	encoder, err := rowkey.NewDevice(&s.call, s.plan, scratch[:bitmaps])
	if err != nil {
		return err
	}
	all := rowkey.DeviceRows{Rows: s.rows, Counted: s.counted}
	return encoder.SortFew(rowkey.Few{Rows: all, Order: rows, Words: scratch[bitmaps]})
}

// sortFew sorts the ties by what follows a place in the plan.
func (r *refinement) sortFew(segment, word int) (err error) {
	t := &r.ties
	block, scratch, err := r.call.Scratch(r.plan.FewBytes(t.count, segment, word))
	if err != nil {
		return err
	}
	return releasedAfter(block, func() error {
		return r.encoder.SortFew(rowkey.Few{
			Rows: rowkey.DeviceRows{Listed: t.rows, Rows: t.count}, Segment: segment, Word: word, Runs: t.numbers,
			Slots: t.slots, Order: r.order, Words: scratch[0],
		})
	})
}
