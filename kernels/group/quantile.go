package group

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels/order"
	"github.com/gpuframe/gpuframe/memory"
)

// Quantiles of groups with many rows are found on a GPU in two passes over the rows, without a sort of all of them
// (quantile.cu). A sorted sample gives each group two bounds between which its quantile probably is. The first pass
// counts the rows below, between and above the bounds, those between by bins. The counts give the bin of the quantile;
// the second pass keeps the rows of this bin only, and one block for each group finds the value among them. Rows that
// are equal to a bound, or to the sample's quantile, are counted but not kept.
//
// The result does not depend on the sample: a quantile outside the bounds is found among all rows below or above
// them. If too many rows would be kept, or if a group has a −0 and its quantile may be zero, the rows are sorted: −0
// and 0 are in the order of their rows. The host waits for that answer between the passes.

// selector finds a quantile of each group.
type selector struct {
	members  *members
	source   source
	groups   int
	n        int
	fraction float64

	g                                    *grouping
	samples, bins, most                  int
	counting                             slotCounting
	shared                               int
	keys                                 memory.Slice[uint8]
	bounds, ranges, selected             memory.Slice[uint8]
	cleared                              memory.Slice[uint8]
	verdict, counters, filled, zeroFlags memory.Slice[uint8]

	owned release.Stack
}

// selectQuantile returns a quantile of each group.
func (m *members) selectQuantile() (*column.Column, error) {
	s, err := m.newSelector()
	if err != nil {
		return nil, err
	}
	c, err := s.quantiles()
	return release.OnError(c, err, s.owned.Release())
}

func (m *members) newSelector() (*selector, error) {
	r, groups, n := m.aggregation, m.aggregation.groups.capacity(), int(m.rows.Capacity())
	t := tuningOf(r.call.Context())
	source, err := sourceOf(&r.call, m.rows.Column(1))
	if err != nil {
		return nil, err
	}
	s := &selector{members: m, source: source, groups: groups, n: n, fraction: m.o.aggregate.quantile}
	if s.g, err = m.grouping(m.rows); err != nil {
		return nil, err
	}
	if s.most = t.QuantileKept; s.most == 0 {
		s.most = n / rowsOfKept
	}
	s.samples = max(min(max(samplesOfGroup*groups, fewestSamples), n/rowsOfSample), 1)
	return s, s.chooseBins(&t)
}

// chooseBins chooses the number of bins of a group, and where rows are counted.
func (s *selector) chooseBins(t *tuning) error {
	bytes, err := sharedBytes(&s.members.aggregation.call)
	if err != nil {
		return err
	}
	inBlock := min(mostBlockCounters, max(bytes-topReserve, 0)/4)
	s.bins = min(inBlock/s.groups-otherCounters, mostBlockBins)
	if s.bins < fewestBlockBins {
		s.bins = min(max(mostCounters/s.groups-otherCounters, fewestBins), mostBins)
	}
	if t.QuantileBins > 0 {
		s.bins = t.QuantileBins
	}
	switch {
	case s.groups*(s.bins+otherCounters) <= inBlock:
		s.counting, s.shared = countInBlock, 4*s.groups*(s.bins+otherCounters)
	case 4*outerCounters*s.groups <= bytes-topReserve:
		s.counting, s.shared = countOuter, 4*outerCounters*s.groups
	}
	return nil
}

// quantiles returns the quantiles.
func (s *selector) quantiles() (*column.Column, error) {
	if err := s.allocate(); err != nil {
		return nil, err
	}
	if err := s.bound(); err != nil {
		return nil, err
	}
	if err := s.count(); err != nil {
		return nil, err
	}
	ends, err := s.resolve()
	if err != nil {
		return nil, err
	}
	kept, err := s.decide()
	if err != nil {
		return nil, err
	}
	if kept > 0 {
		if err := s.keep(kept, ends); err != nil {
			return nil, err
		}
	}
	return s.finish()
}

// allocate allocates the memory of the groups, and clears that of counters.
func (s *selector) allocate() error {
	call, groups := &s.members.aggregation.call, uint64(s.groups)
	counters := 4 * groups * uint64(s.bins+otherCounters)
	block, slices, err := call.Scratch(8*uint64(s.samples), boundsBytes*groups, rangeBytes*groups, selectedBytes*groups, verdictBytes+counters+4*groups+groups)
	if err != nil {
		return err
	}
	s.owned.Add(block)
	s.keys, s.bounds, s.ranges, s.selected, s.cleared = slices[0], slices[1], slices[2], slices[3], slices[4]
	begin := 0
	for _, region := range []struct {
		to    *memory.Slice[uint8]
		bytes uint64
	}{{&s.verdict, verdictBytes}, {&s.counters, counters}, {&s.filled, 4 * groups}, {&s.zeroFlags, groups}} {
		if *region.to, err = s.cleared.Slice(begin, begin+int(region.bytes)); err != nil {
			return err
		}
		begin += int(region.bytes)
	}
	return s.cleared.Fill(call.Stream, 0)
}

// rows are the arguments of kernels that read the rows.
func (s *selector) rows() any {
	l := selectedRowsLayout{numbers: s.g.numbers.AsBytes(), values: s.source.layout(), groups: uint64(s.groups)}
	return l.asArgument()
}

func (s *selector) form() uint32 { return uint32(s.source.form) }

// bound sorts a sample of the rows and finds the bounds of each group.
func (s *selector) bound() error {
	r, groupBits := s.members.aggregation, uint32(bits.Len(uint(s.groups)))
	words, err := r.newScratch(op.Result{Type: arrow.PrimitiveTypes.Uint64, Length: s.samples}, func(out op.Buffers) error {
		return launchGrid(&r.call, "quantile", "sample_rows", s.samples, out.Values, s.keys, s.rows(), uint64(s.samples), groupBits, s.g.counted, int64(s.g.rows))
	})
	if err != nil {
		return err
	}
	s.owned.Add(words)
	sorted, err := s.sortedWords(words)
	if err != nil {
		return err
	}
	s.owned.Add(sorted)
	numbers, err := sorted.ValuesRegion()
	if err != nil {
		return err
	}
	region, err := words.ValuesRegion()
	if err != nil {
		return err
	}
	return launchRows(&r.call, "quantile", "bound_groups", s.groups, s.bounds, numbers, region, s.keys, uint64(s.samples), groupBits, s.form(), s.fraction,
		uint32(s.bins), uint64(s.groups))
}

// sortedWords returns the numbers of the words of the sample in their order.
func (s *selector) sortedWords(words *column.Column) (*column.Column, error) {
	table, err := op.TableOf([]string{"word"}, []*column.Column{words}, buffer.Rows{Count: int64(s.samples)})
	if err != nil {
		return nil, err
	}
	sorted, err := order.Indices(s.members.aggregation.call.Context(), table, []order.Key{{Column: "word"}}, s.members.aggregation.scratch())
	return release.OnError(sorted, err, table.Release())
}

// count counts the rows of each slot of each group.
func (s *selector) count() error {
	call := &s.members.aggregation.call
	kernel, err := call.Kernel(&aggregateSet, "quantile", "count_slots")
	if err != nil {
		return err
	}
	tiles := max(s.g.rows-1, 0)/quantileTile + 1
	blocks := min(tiles, max(call.Stream.Device().Info().Multiprocessors, 1))
	return kernel.Launch(call.Stream, device.Dim3{X: uint32(blocks)}, device.Dim3{X: quantileThreads}, uint32(s.shared),
		s.counters, s.zeroFlags, s.rows(), s.bounds, uint32(s.bins), uint32(s.counting), s.g.counted, int64(s.g.rows))
}

// resolve finds the slot of each group's quantile, and returns the ends of the rows that groups keep.
func (s *selector) resolve() (memory.Slice[uint64], error) {
	m, r := s.members, s.members.aggregation
	counts, err := r.newScratch(op.Result{Type: arrow.PrimitiveTypes.Int64, Length: s.groups}, func(out op.Buffers) error {
		return launchGrid(&r.call, "quantile", "resolve_groups", s.groups*warpThreads, s.ranges, s.selected, out.Values, s.verdict, s.counters, s.zeroFlags, s.bounds,
			s.form(), s.fraction, uint32(s.bins), uint64(mostKept), uint64(s.groups))
	})
	if err != nil {
		return memory.Slice[uint64]{}, err
	}
	s.owned.Add(counts)
	ends, err := m.ends(counts)
	if err != nil {
		return memory.Slice[uint64]{}, err
	}
	return wordsOf(ends)
}

// decide returns the number of rows that are kept, or errUnselected if these are too many or a group has to be sorted. It
// waits.
func (s *selector) decide() (kept int, err error) {
	words, err := memory.Reinterpret[uint64](s.verdict)
	if err != nil {
		return 0, err
	}
	call := &s.members.aggregation.call
	var verdict [verdictBytes / 8]uint64
	if err := words.Download(call.Context(), call.Stream, verdict[:]); err != nil {
		return 0, err
	}
	if verdict[0] > uint64(s.n) {
		return 0, fmt.Errorf("quantiles keep %d of %d rows: %w", verdict[0], s.n, errKept)
	}
	if kept = int(verdict[0]); kept > s.most || verdict[1] != 0 {
		return 0, errUnselected
	}
	return kept, nil
}

var errKept = errors.New("the rows changed while they were read")

// keep collects the rows that groups keep, and finds their values.
func (s *selector) keep(kept int, ends memory.Slice[uint64]) error {
	call := &s.members.aggregation.call
	block, slices, err := call.Scratch(8 * uint64(kept))
	if err != nil {
		return err
	}
	s.owned.Add(block)
	if err := launchGrid(call, "quantile", "keep_rows", s.g.rows, slices[0], s.filled, s.rows(), s.ranges, ends, s.g.counted, int64(s.g.rows)); err != nil {
		return err
	}
	kernel, err := call.Kernel(&aggregateSet, "quantile", "select_keys")
	if err != nil {
		return err
	}
	blocks := min(s.groups, keptBlocks*max(call.Stream.Device().Info().Multiprocessors, 1))
	return kernel.Launch(call.Stream, device.Dim3{X: uint32(blocks)}, device.Dim3{X: keptThreads}, 0, s.selected, slices[0], ends, s.ranges, uint64(s.groups))
}

// finish interpolates between the values that were found.
func (s *selector) finish() (*column.Column, error) {
	r := s.members.aggregation
	result := op.Result{Type: s.members.o.dataType, Length: s.groups, RowCount: r.groups.keys.RowCount(), Nullable: true}
	return newColumn(&r.call, result, func(out op.Buffers) error {
		return launchRows(&r.call, "quantile", "finish_quantiles", s.groups, out.Values, out.Valid, s.selected, s.form(), s.fraction, uint64(s.groups))
	})
}
