package order

import (
	"context"
	"errors"
	"fmt"
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/cancel"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/parallel"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

// MergeOptions configure [Merge].
type MergeOptions struct {
	kernels.Options
	// Unchecked does not check that the tables are sorted. The result is sorted
	// in both cases.
	Unchecked bool
}

// Merge returns the rows of sorted tables as one sorted table. Of rows with equal keys
// those of earlier tables come first. The tables have equal columns. Keys have no Values.
// The caller releases the result.
//
// # Waiting
//
// Merge waits for row counts that only the device knows, for the sizes of strings and
// lists, and, unless Unchecked is set, for the check that the tables are sorted.
//
// # Errors
//
// The errors are those of [Sort]. Tables with different columns wrap buffer.ErrSchema. A
// table that is not sorted is an [*UnsortedError]. No table wraps device.ErrInvalidValue.
func Merge(ctx context.Context, tables []*buffer.Buffer, keys []Key, options ...MergeOptions) (*buffer.Buffer, error) {
	only, err := op.Only(options)
	if err != nil {
		return nil, fmt.Errorf("order: merge: %w", err)
	}
	merged, err := merge(ctx, tables, keys, only)
	if err != nil {
		return nil, fmt.Errorf("order: merge: %w", err)
	}
	return merged, nil
}

func merge(ctx context.Context, tables []*buffer.Buffer, keys []Key, options MergeOptions) (*buffer.Buffer, error) {
	if len(tables) == 0 {
		return nil, fmt.Errorf("no table is given, expected one or more: %w", device.ErrInvalidValue)
	}
	for i, key := range keys {
		if key.Values != nil {
			return nil, &KeyError{i, key, fmt.Errorf("the field Values has no rows for several tables, expected Column or Expr: %w", device.ErrInvalidValue)}
		}
	}
	rows, lengths := int64(0), make([]int, len(tables))
	for i, table := range tables {
		if err := table.Check(); err != nil {
			return nil, fmt.Errorf("table %d: %w", i, err)
		}
		if own, first := table.Schema(), tables[0].Schema(); !own.Equal(first) {
			return nil, fmt.Errorf("table %d has the columns %v, the first one %v, expected equal ones: %w", i, own, first, buffer.ErrSchema)
		}
		if _, known := table.HostRows(); !known && options.Estimate != nil { // an estimate does not wait
			return nil, errNoEstimate
		}
		n, err := table.NumRows(ctx)
		if err != nil {
			return nil, fmt.Errorf("table %d: %w", i, err)
		}
		rows += n
		lengths[i] = int(n)
	}
	if err := checkRows(rows); err != nil {
		return nil, err
	}
	if options.Estimate != nil {
		o, err := begin(ctx, tables[0], keys, options.Options)
		if err != nil {
			return nil, err
		}
		return nil, errors.Join(o.estimateMerge(tables, int(rows), options.Unchecked, options.Options), o.release())
	}
	for i, table := range tables {
		if options.Unchecked {
			break
		}
		if err := checkSorted(ctx, table, i, keys, options.Options); err != nil {
			return nil, err
		}
	}
	scratch := options.Options
	scratch.Tag = scratchTag
	all, err := selection.Concat(ctx, tables, scratch)
	if err != nil {
		return nil, err
	}
	merged, err := mergeAll(ctx, all, lengths, keys, options)
	return release.OnError(merged, err, all.Release())
}

// mergeAll merges tables of some lengths, which follow each other in one table.
func mergeAll(ctx context.Context, all *buffer.Buffer, lengths []int, keys []Key, options MergeOptions) (*buffer.Buffer, error) {
	if options.Unchecked { // the result has to be sorted also if the tables are not
		return sortTable(ctx, all, keys, options.Options)
	}
	scratch := options.Options
	scratch.Tag = scratchTag
	o, err := begin(ctx, all, keys, scratch)
	if err != nil {
		return nil, err
	}
	rows, err := o.merged(lengths)
	if rows, err = release.OnError(rows, err, o.release()); err != nil {
		return nil, err
	}
	return take(ctx, all, rows, options.Options, true)
}

// merged returns the numbers of the rows in order. Ranges of some lengths are sorted.
func (o *ordering) merged(lengths []int) (*column.Column, error) {
	return o.newColumn(o.result(arrow.PrimitiveTypes.Uint32), func(out op.Buffers) error {
		bytes := 4 * uint64(o.rows)
		block, scratch, err := o.call.Scratch(bytes, bytes)
		if err != nil {
			return err
		}
		return releasedAfter(block, func() error {
			var lists [3]memory.Slice[uint32]
			for i, bytes := range []memory.Slice[uint8]{out.Values, scratch[0], scratch[1]} {
				list, err := memory.Reinterpret[uint32](bytes)
				if err != nil {
					return err
				}
				if lists[i], err = list.Slice(0, o.rows); err != nil {
					return err
				}
			}
			return o.merge(lengths, lists[0], lists[1], lists[2])
		})
	})
}

// merge merges pairs of ranges until one is left. The result is in rows.
func (o *ordering) merge(lengths []int, rows, spare, places memory.Slice[uint32]) error {
	ends := make([]int, len(lengths))
	end := 0
	for i, length := range lengths {
		end += length
		ends[i] = end
	}
	from, to := rows, spare
	if bits.Len(uint(len(lengths)-1))%2 != 0 { // the number of rounds is odd
		from, to = to, from
	}
	if err := o.writeNumbers(from); err != nil {
		return err
	}
	for len(ends) > 1 {
		if err := cancel.Error(o.call.Context()); err != nil {
			return err
		}
		var left []int
		begin := 0
		for i := 0; i < len(ends); i += 2 {
			middle, end := ends[i], ends[min(i+1, len(ends)-1)]
			if err := o.mergePair(begin, middle, end, from, to, places); err != nil {
				return err
			}
			left = append(left, end)
			begin = end
		}
		ends, from, to = left, to, from
	}
	return nil
}

// mergePair merges the rows from begin to middle with those up to end. The place of a row
// is behind the rows before it, of both ranges. Of equal rows those of the first come first.
func (o *ordering) mergePair(begin, middle, end int, from, to, places memory.Slice[uint32]) error {
	all := someRows{ordering: o, end: o.rows, listed: from}
	first, second := all.part(begin, middle), all.part(middle, end)
	part, err := to.Slice(begin, end)
	if err != nil {
		return err
	}
	for _, step := range []struct {
		rows, others someRows
		upper        bool
	}{{first, second, false}, {second, first, true}} {
		if step.rows.count() == 0 {
			continue
		}
		own, err := from.Slice(step.rows.begin, step.rows.end)
		if err != nil {
			return err
		}
		positions, err := places.Slice(step.rows.begin, step.rows.end)
		if err != nil {
			return err
		}
		if err := o.find(step.others, step.rows, step.upper, positions); err != nil {
			return err
		}
		if err := o.mergeRows(part, own, positions); err != nil {
			return err
		}
	}
	return nil
}

// writeNumbers writes the numbers of all rows.
func (o *ordering) writeNumbers(to memory.Slice[uint32]) error {
	if !o.call.OnHost() {
		return o.launchTies("order_numbers", to.Len(), to, uint64(to.Len()))
	}
	numbers, err := to.Host()
	for i := range numbers {
		numbers[i] = uint32(i)
	}
	return err
}

// mergeRows writes rows to their places among others and themselves.
func (o *ordering) mergeRows(merged, rows, places memory.Slice[uint32]) error {
	if !o.call.OnHost() {
		return o.launchSearch("merge_rows", rows.Len(), merged, rows, places, uint64(rows.Len()))
	}
	to, err := merged.Host()
	own, ownErr := rows.Host()
	positions, foundErr := places.Host()
	if err := errors.Join(err, ownErr, foundErr); err != nil {
		return err
	}
	return parallel.Run(o.call.Context(), len(own), parallel.Parts(len(own)), func(_, begin, end int) {
		for i := begin; i < end; i++ {
			to[i+int(positions[i])] = own[i]
		}
	})
}
