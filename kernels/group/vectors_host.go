package group

import (
	"errors"
	"math"

	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/parallel"
	"github.com/gpuframe/gpuframe/memory"
)

// hostVectors is a vectorReader in memory that the processor reads.
type hostVectors struct {
	*vectorReader
	list, elements, condition hostSource
	offsets                   []byte
	counts                    []int64
}

func (v *vectorReader) host() (h hostVectors, err error) {
	h.vectorReader = v
	var failures [5]error
	h.list, failures[0] = v.list.host()
	h.elements, failures[1] = v.elements.host()
	h.condition, failures[2] = v.condition.host()
	h.offsets, failures[3] = v.offsets.Host()
	counts, err := v.counts.Host()
	h.counts, failures[4] = op.Elements[int64](counts), err
	return h, errors.Join(failures[:]...)
}

// span returns the elements of a row: none if they are beyond those of the column.
func (h *hostVectors) span(row int) (begin, count int) {
	if h.width == 0 {
		return (h.first + row) * h.size, h.size
	}
	begin, end := h.offset(row), h.offset(row+1)
	if begin < 0 || end < begin || end > h.extent {
		return 0, 0
	}
	return begin, end - begin
}

func (h *hostVectors) offset(i int) int {
	if h.width == 4 {
		return int(op.Elements[int32](h.offsets)[i])
	}
	return int(op.Elements[int64](h.offsets)[i])
}

// takes reports whether a row is added: it and its elements are not null.
func (h *hostVectors) takes(row, begin, count int, conditional bool) bool {
	if h.counts != nil {
		return h.counts[row] != 0
	}
	if !h.list.isValid(row) || conditional && !(h.condition.IsTrue(row) && h.condition.isValid(row)) {
		return false
	}
	for i := begin; h.elements.Valid != nil && i < begin+count; i++ {
		if !h.elements.isValid(i) {
			return false
		}
	}
	return true
}

// taken returns whether each row is added, and the length of these.
func (h *hostVectors) taken(rows int, conditional bool) (taken []bool, size int, err error) {
	taken = make([]bool, rows)
	least, most, size := uint64(math.MaxUint64), uint64(0), h.size
	for row := range taken {
		begin, count := h.span(row)
		if taken[row] = h.takes(row, begin, count, conditional); taken[row] {
			least, most = min(least, uint64(count)), max(most, uint64(count))
		}
	}
	if h.width > 0 && least <= most {
		size, err = lengthOf(least, most)
	}
	return taken, size, err
}

// addVectorsOnHost adds the vectors of all rows to those of their groups. Each goroutine has part of the elements.
func (r *aggregation) addVectorsOnHost(v *vectorReader, checked bool, allocate func(...uint64) (*memory.Block, []memory.Slice[uint8], error)) (*vectorSums, error) {
	h, err := v.host()
	if err != nil {
		return nil, err
	}
	groups, err := r.groups.numbers.Host()
	if err != nil {
		return nil, err
	}
	rows, size := r.groups.rows, v.size
	var taken []bool
	if checked {
		if taken, size, err = h.taken(rows, v.condition.form != fromNothing); err != nil {
			return nil, err
		}
	}
	s, err := r.newVectorSums(size, allocate)
	if err != nil {
		return nil, err
	}
	sums, sumsErr := s.sums.Host()
	counts, countsErr := s.counts.Host()
	if err := errors.Join(sumsErr, countsErr); err != nil {
		return nil, errors.Join(err, s.block.Release())
	}
	a := vectorAddition{hostVectors: &h, taken: taken, groups: groups, size: size, sums: op.Elements[uint64](sums), counts: op.Elements[int64](counts)}
	a.count(rows)
	err = parallel.Run(r.call.Context(), size, max(1, min(parallel.Parts(rows*size), size/64)), func(_, begin, end int) { a.add(rows, begin, end) })
	if err != nil {
		return nil, errors.Join(err, s.block.Release())
	}
	return s, nil
}

// vectorAddition adds vectors to states. Without groups all rows are of group 0, and without taken all are added.
type vectorAddition struct {
	*hostVectors
	taken  []bool
	groups []uint32
	size   int
	sums   []uint64
	counts []int64
}

// group returns the group of a row, or false if the row is not added.
func (a *vectorAddition) group(row int) (group int, ok bool) {
	if a.taken != nil && !a.taken[row] {
		return 0, false
	}
	if len(a.groups) > 0 {
		group = int(a.groups[row])
	}
	return group, group < len(a.counts)
}

func (a *vectorAddition) count(rows int) {
	for row := range rows {
		if group, ok := a.group(row); ok && a.hostVectors.counts != nil {
			a.counts[group] += a.hostVectors.counts[row]
		} else if ok {
			a.counts[group]++
		}
	}
}

// add adds some elements of all rows.
func (a *vectorAddition) add(rows, first, end int) {
	const words = vectorStateBytes / 8
	values := make([]uint64, end-first)
	states := op.Elements[uint64](a.elements.Values)
	for row := range rows {
		group, ok := a.group(row)
		if !ok {
			continue
		}
		begin, _ := a.span(row)
		to := a.sums[(group*a.size+first)*words : (group*a.size+end)*words]
		if a.elements.form == fromStates {
			for i := range end - first {
				at := (begin + first + i) * words
				mergeFloats(to[i*words:(i+1)*words:(i+1)*words], states[at:at+words])
			}
			continue
		}
		a.elements.floats(values, begin+first)
		for i, x := range values {
			addFloat(to[i*words:(i+1)*words:(i+1)*words], math.Float64frombits(x))
		}
	}
}

// finishOnHost writes the sums of the groups, or their means.
func (s *vectorSums) finishOnHost(out op.Buffers, isMean bool) error {
	to, err := out.Host()
	sums, sumsErr := s.sums.Host()
	counts, countsErr := s.counts.Host()
	if err := errors.Join(err, sumsErr, countsErr); err != nil {
		return err
	}
	const words = vectorStateBytes / 8
	results, states, numbers := op.Elements[uint64](to.Values), op.Elements[uint64](sums), op.Elements[int64](counts)
	for i := range s.groups * s.size {
		x := floatSum(states[i*words : (i+1)*words]).high
		if n := numbers[i/s.size]; isMean && n > 0 {
			x /= float64(n)
		}
		results[i] = realBits(x)
	}
	return nil
}

// writeValidOnHost writes a bit for each group that has vectors.
func (s *vectorSums) writeValidOnHost(out op.Buffers) error {
	to, err := out.Host()
	counts, countsErr := s.counts.Host()
	if err := errors.Join(err, countsErr); err != nil {
		return err
	}
	clear(to.Values)
	for i, n := range op.Elements[int64](counts)[:s.groups] {
		if n > 0 {
			to.SetTrue(i)
		}
	}
	return nil
}
