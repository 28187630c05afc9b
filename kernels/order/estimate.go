package order

import (
	"context"
	"errors"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/selection"
)

// estimateSort estimates a sort of a table that gathers all columns: the row numbers exist
// together with the memory of the sort, and then with the result.
func (o *ordering) estimateSort(table *buffer.Buffer) error {
	s := o.chooseSort()
	if unforeseen(s) {
		return errNoEstimate
	}
	taken, err := o.estimateTake(table)
	if err != nil {
		return err
	}
	rows := o.result(arrow.PrimitiveTypes.Uint32).Sizes()
	numbers, err := op.Bytes(rows[:]...)
	if err != nil {
		return err
	}
	sort, err := op.Bytes(s.scratch()...)
	if err != nil {
		return err
	}
	scratch := taken.Scratch
	if sort > taken.Peak() {
		scratch = sort - taken.Result
	}
	return o.call.Estimate([]uint64{taken.Result}, []uint64{numbers, scratch})
}

// estimateTake estimates the gather of all rows of a table.
func (o *ordering) estimateTake(table *buffer.Buffer) (kernels.Estimate, error) {
	return o.estimateTakeOf(table, o.capacity)
}

// estimateTakeOf estimates the gather of n rows, none of them twice.
func (o *ordering) estimateTakeOf(table *buffer.Buffer, n int) (kernels.Estimate, error) {
	rows, err := o.standIn(table, n)
	if err != nil {
		return kernels.Estimate{}, err
	}
	estimate, err := kernels.EstimateOf(func(options kernels.Options) (*buffer.Buffer, error) {
		options.Stream, options.Manager = o.call.Stream, o.call.Manager
		return selection.TakeWith(o.call.Context(), table, rows, selection.TakeOptions{Options: options, Bounds: selection.Trust, Distinct: true})
	})
	_, err = release.OnError(rows, err)
	if err != nil {
		return estimate, err
	}
	return estimate, rows.Release()
}

// standIn returns a column of n row numbers for estimates, which do not read it: its memory is
// that of a column of the table. A table without values of four bytes has no estimate.
func (o *ordering) standIn(table *buffer.Buffer, n int) (*column.Column, error) {
	bytes, count := 4*n, o.count
	if n != o.capacity {
		count = nil
	}
	if bytes == 0 {
		return column.New(column.Data{Type: arrow.PrimitiveTypes.Uint32, Rows: count, Buffers: make([]column.Bytes, 2), Manager: o.call.Manager})
	}
	for i := range table.NumColumns() {
		c := table.Column(i)
		for j := range c.NumBuffers() {
			if c.Buffer(j).Len() < bytes {
				continue
			}
			part, err := c.Buffer(j).Slice(0, bytes)
			if err != nil {
				return nil, err
			}
			return column.New(column.Data{Type: arrow.PrimitiveTypes.Uint32, Length: n, Rows: count, Buffers: []column.Bytes{{}, part}})
		}
	}
	return nil, errNoEstimate
}

// estimateSearch estimates a search. check are the sizes of the memory that the check of the
// order takes, before that of the search.
func (o *ordering) estimateSearch(sorted, values someRows, check []uint64) error {
	sizes, scratch := [2]uint64{}, []uint64(nil)
	if values.count() > 0 {
		sizes = op.Result{Type: arrow.PrimitiveTypes.Uint32, Length: values.count()}.Sizes()
		if scratch = findScratch(sorted, values); o.call.OnHost() {
			scratch = hostFindScratch(sorted, values)
		}
	}
	before, err := op.Bytes(check...)
	if err != nil {
		return err
	}
	result, err := op.Bytes(sizes[:]...)
	if err != nil {
		return err
	}
	find, err := op.Bytes(scratch...)
	if err != nil {
		return err
	}
	if before > result {
		find = max(find, before-result)
	}
	return o.call.Estimate(sizes[:], []uint64{find})
}

// numbersBytes returns the memory of a column of n row numbers.
func numbersBytes(n int) (uint64, error) {
	if n == 0 {
		return 0, nil
	}
	sizes := op.Result{Type: arrow.PrimitiveTypes.Uint32, Length: n}.Sizes()
	return op.Bytes(sizes[:]...)
}

// phases are the phases of an operator. Each has the memory that it keeps for those after
// it, and the memory that it needs beside that.
type phases struct{ kept, peak uint64 }

// add adds a phase.
func (p *phases) add(kept, beside uint64) {
	p.peak = max(p.peak, p.kept+kept+beside)
	p.kept += kept
}

// addEstimate adds a phase that keeps its result.
func (p *phases) addEstimate(e kernels.Estimate) { p.add(e.Result, e.Scratch) }

// report ends the estimate of an operator of which some bytes are the result.
func (p *phases) report(options kernels.Options, result uint64) error {
	options.Estimate.Result, options.Estimate.Scratch = result, p.peak-min(result, p.peak)
	return kernels.ErrEstimated
}

// estimateSorted estimates [IsSorted].
func (o *ordering) estimateSorted() error {
	if o.rows < 2 || o.call.OnHost() {
		return o.call.Estimate(nil, nil)
	}
	return o.call.Estimate(nil, o.unsortedScratch())
}

// estimateFirst estimates the numbers of the first k rows, for phases: kept is the result. It
// is exact, but for the sort of all rows, whose result keeps all numbers.
func (o *ordering) estimateFirst(k int64) (p phases, err error) {
	k = min(k, int64(o.rows))
	if k == 0 {
		return p, nil
	}
	if number, ok := o.selectable(k); ok && !o.call.OnHost() {
		top, err := kernels.EstimateOf(func(options kernels.Options) (*Top, error) {
			options.Manager = o.call.Manager
			return topSelected(o.call.Context(), o.columns[0], int(k), number, false, TopOptions{Options: options, Smallest: !o.sources[0].Descending})
		})
		if err != nil {
			return p, err
		}
		numbers, err := numbersBytes(int(k))
		p.addEstimate(top)
		p.add(numbers, 0)
		p.kept = numbers
		return p, err
	}
	s := o.chooseSort()
	if unforeseen(s) {
		return p, errNoEstimate
	}
	numbers, err := numbersBytes(o.capacity)
	sort, sortErr := op.Bytes(s.scratch()...)
	p.add(numbers, sort)
	return p, errors.Join(err, sortErr)
}

// estimateTop estimates [TopK] of a table, or [TopIndices] without one.
func (o *ordering) estimateTop(k int64, table *buffer.Buffer, options kernels.Options) error {
	p, err := o.estimateFirst(k)
	if err != nil {
		return err
	}
	if table == nil {
		return p.report(options, p.kept)
	}
	taken, err := o.estimateTakeOf(table, int(min(k, int64(o.rows))))
	if err != nil {
		return err
	}
	p.addEstimate(taken)
	return p.report(options, taken.Result)
}

// estimatePartition estimates [Partition]: an upper bound.
func estimatePartition(ctx context.Context, table, bounds *buffer.Buffer, keys []Key, options kernels.Options) error {
	n, known := table.HostRows()
	ranges, both := bounds.HostRows()
	if !known || !both {
		return errNoEstimate
	}
	o, err := begin(ctx, table, keys, options)
	if err != nil {
		return err
	}
	err = o.estimatePartition(table, bounds, keys, int(n), int(ranges), options)
	return errors.Join(err, o.release())
}

func (o *ordering) estimatePartition(table, bounds *buffer.Buffer, keys []Key, n, ranges int, options kernels.Options) error {
	ctx, manager := o.call.Context(), o.call.Manager
	var p phases
	searched, err := kernels.EstimateOf(func(own kernels.Options) (*column.Column, error) {
		own.Manager = manager
		return search(ctx, bounds, table, keys, SearchOptions{Options: own, Upper: true})
	})
	if err != nil {
		return err
	}
	p.addEstimate(searched)
	numbers, err := o.standIn(table, n)
	if err != nil {
		return err
	}
	defer numbers.Release()
	byRange := []Key{{Column: "range"}}
	numbered, err := op.TableOf([]string{"range"}, []*column.Column{numbers}, buffer.Rows{Count: int64(n), Manager: manager})
	if err != nil {
		return err
	}
	defer numbered.Release()
	// Numbers of one byte, and a column of sorted numbers, take no more than those of 32 bits.
	sorted, sortedErr := numbersBytes(n)
	p.add(sorted, 0)
	places, placesErr := numbersBytes(ranges + 2)
	// The search reads numbers of 32 bits in place, and samples those that are sorted.
	samples, samplesErr := op.Bytes(uint64(n)/sampleDistance*4+4, 8*uint64(n)*uint64(index(o.call.OnHost())), 8*uint64(ranges+2))
	rows, err := kernels.EstimateOf(func(own kernels.Options) (*column.Column, error) {
		own.Manager = manager
		return indices(ctx, numbered, byRange, own)
	})
	if err = errors.Join(err, sortedErr, placesErr, samplesErr); err != nil {
		return err
	}
	p.addEstimate(rows)
	p.add(sorted, 0)
	p.add(places, 0)
	p.add(places, samples)
	taken, err := o.estimateTakeOf(table, n)
	if err != nil {
		return err
	}
	p.addEstimate(taken)
	return p.report(options, taken.Result+places)
}

// estimateMerge estimates [Merge]: an upper bound. The tables are like the first one, whose
// ordering this is, and have rows together.
func (o *ordering) estimateMerge(tables []*buffer.Buffer, rows int, unchecked bool, options kernels.Options) error {
	o.rows, o.capacity, o.count = rows, rows, nil
	if unchecked && unforeseen(o.chooseSort()) || !alikeNullable(tables) {
		return errNoEstimate
	}
	all, err := kernels.EstimateOf(func(own kernels.Options) (*buffer.Buffer, error) {
		own.Manager = o.call.Manager
		return selection.Concat(o.call.Context(), tables, own)
	})
	if err != nil {
		return err
	}
	var p phases
	if !unchecked && !o.call.OnHost() { // of the longest table at most
		check, err := op.Bytes(append(o.plan.DeviceScratch(), o.plan.WordsBytes(rows), uint64(rows), 8)...)
		if err != nil {
			return err
		}
		p.add(0, check)
	}
	p.addEstimate(all)
	numbers, err := numbersBytes(rows)
	if err != nil {
		return err
	}
	n := uint64(rows)
	merge := append(append(o.plan.DeviceScratch(), o.plan.DeviceScratch()...), 4*n, 4*n, 4*n, 8*n, o.plan.WordsBytes(rows/sampleDistance+1))
	if unchecked { // two buffers of words and numbers, however the table is sorted
		merge = o.chooseSort().scratch()
		if !o.call.OnHost() && rows > 0 && o.oneWord() {
			s := o.firstSort()
			merge = append(o.plan.DeviceScratch(), 8*n, 8*n, 4*n, 4*n, s.StateBytes())
		}
	}
	beside, err := op.Bytes(merge...)
	if err != nil {
		return err
	}
	p.add(numbers, beside)
	// The gather of all rows makes what the concatenation made.
	gather := all.Scratch
	if unchecked { // a sort of few rows, or on the host, may take less memory than the gather of texts
		if gather, err = o.gatherScratch(tables); err != nil {
			return err
		}
	}
	p.add(all.Result, max(gather, all.Scratch))
	return p.report(options, all.Result)
}

// gatherTile is the number of rows from which on a gather of texts takes memory for the sums of its tiles.
const gatherTile = 2048

// gatherScratch returns a bound of the scratch memory of the gather of all rows of several tables: that of the rows of each, and
// of the sums that all rows together need. Tables without values of four bytes take none, because they have no texts.
func (o *ordering) gatherScratch(tables []*buffer.Buffer) (total uint64, err error) {
	rows, all := make([]int, len(tables)), 0
	for i, table := range tables {
		n, _ := table.HostRows()
		rows[i] = int(n)
		all += rows[i]
	}
	for i, table := range tables {
		if all >= gatherTile {
			rows[i] = max(rows[i], gatherTile)
		}
		taken, err := o.estimateTakeOf(table, rows[i])
		if errors.Is(err, errNoEstimate) {
			continue
		}
		if err != nil {
			return 0, err
		}
		total += taken.Scratch
	}
	return total, nil
}

// alikeNullable reports whether the same columns of all tables may have nulls.
func alikeNullable(tables []*buffer.Buffer) bool {
	for _, table := range tables[1:] {
		for i := range table.NumColumns() {
			if op.Nullable(table.Column(i)) != op.Nullable(tables[0].Column(i)) {
				return false
			}
		}
	}
	return true
}

func index(b bool) int {
	if b {
		return 1
	}
	return 0
}
