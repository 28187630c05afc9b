package order

import (
	"cmp"
	"errors"

	"github.com/gpuframe/gpuframe/internal/keys/rowkey"
	"github.com/gpuframe/gpuframe/internal/op/parallel"
	"github.com/gpuframe/gpuframe/memory"
)

// encodedOnHost is rows with their first words.
type encodedOnHost struct {
	*rowkey.Host
	words  []uint64
	listed []uint32 // or nil
	begin  int
	exact  bool // the words decide the order
}

// encoded returns rows with their first words, in memory for a word for each.
func (r someRows) encoded(scratch memory.Slice[uint8]) (e encodedOnHost, err error) {
	host, err := rowkey.NewHost(r.plan)
	if err != nil {
		return e, err
	}
	e = encodedOnHost{Host: host, begin: r.begin, exact: r.oneWord()}
	if r.listed.Len() > 0 {
		listed, err := r.listed.Host()
		if err != nil {
			return e, err
		}
		e.listed = listed[r.begin:r.end]
	}
	if e.words, err = words(scratch); err != nil {
		return e, err
	}
	e.words = e.words[:r.count()]
	return e, parallel.Run(r.call.Context(), r.count(), parallel.Parts(r.count()), func(_, begin, end int) {
		rows := rowkey.Rows{First: r.begin + begin}
		if e.listed != nil {
			rows = rowkey.Rows{Listed: e.listed[begin:end]}
		}
		host.Encode(0, 0, rows, e.words[begin:end])
	})
}

// row returns the number of row i.
func (e *encodedOnHost) row(i int) int {
	if e.listed != nil {
		return int(e.listed[i])
	}
	return e.begin + i
}

// compare compares row i with row j of others.
func (e *encodedOnHost) compare(i int, others *encodedOnHost, j int) int {
	if order := cmp.Compare(e.words[i], others.words[j]); order != 0 || e.exact {
		return order
	}
	return e.CompareWith(e.row(i), others.Host, others.row(j), rowkey.Position{Word: 1})
}

// hostFindScratch returns the sizes of the memory that findOnHost needs: words of both sides.
func hostFindScratch(sorted, values someRows) []uint64 {
	return []uint64{8 * uint64(sorted.count()), 8 * uint64(values.count())}
}

// findOnHost is find on the host device.
func (o *ordering) findOnHost(sorted, values someRows, upper bool, out memory.Slice[uint32]) error {
	block, scratch, err := o.call.Scratch(hostFindScratch(sorted, values)...)
	if err != nil {
		return err
	}
	return releasedAfter(block, func() error {
		among, err := sorted.encoded(scratch[0])
		those, otherErr := values.encoded(scratch[1])
		places, outErr := out.Host()
		if err := errors.Join(err, otherErr, outErr); err != nil {
			return err
		}
		above := 0
		if upper {
			above = 1
		}
		n, count := sorted.count(), values.count()
		return parallel.Run(o.call.Context(), count, parallel.Parts(count), func(_, begin, end int) {
			near := 0
			for i := begin; i < end; i++ {
				near = firstNot(n, near, func(row int) bool { return among.compare(row, &those, i) < above })
				places[i] = uint32(near)
			}
		})
	})
}

// firstNot returns the first number below n for which before is false, or n. All smaller
// ones are true. It is fast if that is near a number.
func firstNot(n, near int, before func(int) bool) int {
	low, high := 0, n // the result is in low to high
	if near < n && before(near) {
		low = near + 1
		for step := 1; low+step <= n; step *= 2 {
			if !before(low + step - 1) {
				high = low + step - 1
				break
			}
			low += step
		}
	} else {
		high = near
		for step := 1; high-step >= 0; step *= 2 {
			if before(high - step) {
				low = high - step + 1
				break
			}
			high -= step
		}
	}
	for low < high {
		middle := int(uint(low+high) / 2)
		if before(middle) {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low
}
