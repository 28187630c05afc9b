package group

import (
	"errors"
	"math"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/memory"
)

// The number of different keys is estimated by a HyperLogLog sketch (Flajolet and others, 2007) of all rows: each of
// 2,048 registers keeps the greatest number of leading zeros of the hashes that belong to it. The result depends on the
// set of the keys alone, so skewed and sorted rows are no worse than others, and it is the same in every run. A
// sample would read less, but its error grows with the square root of rows by sampled ones (Charikar and others, 2000),
// and the pass has to read all keys anyway: it finds their bounds too, for which the host waits.

// sketched is what a sketch of a column shows.
type sketched struct {
	bounds    column.Bounds
	hasValues bool
	distinct  uint64
}

// withMargin returns an estimate and three times its standard error.
func withMargin(distinct uint64) uint64 {
	return distinct + uint64(3*sketchError*float64(distinct)) + 1
}

// sketchBounds finds the bounds of a column of integers without nulls, and estimates how many are different.
func (f *numberer) sketchBounds(c *column.Column, bounds *column.Bounds, hasValues *bool) error {
	s, err := sketch(f.call, c)
	if err != nil {
		return err
	}
	*bounds, *hasValues, f.distinct[c] = s.bounds, s.hasValues, s.distinct
	return nil
}

// sketch finds the bounds of a column of integers without nulls, and estimates how many are different. The column
// learns both. It waits.
func sketch(call *op.Call, c *column.Column) (s sketched, err error) {
	rows, counted, err := c.Extent(call.Context())
	if err != nil {
		return s, err
	}
	keys, err := sourceOf(call, c)
	if err != nil {
		return s, err
	}
	read, err := sketchWords(call, keys, rows, counted)
	if err != nil {
		return s, err
	}
	var ranks [sketchRegisters]uint32
	for i, word := range read[sketchBoundWords:] { // devices are little-endian, and so are the hosts that have them
		ranks[2*i], ranks[2*i+1] = uint32(word), uint32(word>>32)
	}
	sign := uint64(0)
	if keys.form.isSigned() {
		sign = 1 << 63
	}
	least, greatest := ^read[1], read[0]
	s.hasValues = least <= greatest
	if s.hasValues {
		s.bounds = column.Bounds{Least: least ^ sign, Greatest: greatest ^ sign}
		c.LearnBounds(s.bounds)
	}
	s.distinct = min(distinctOf(ranks[:]), uint64(rows))
	c.LearnDistinctEstimate(s.distinct)
	return s, nil
}

// sketchBoundWords is the number of words of 64 bits with the bounds, sketchWordCount that with the registers
// behind them.
const sketchBoundWords, sketchWordCount = 2, 2 + sketchRegisters/2

// sketchWords returns the greatest key, the complement of the least one, and the registers. It waits.
func sketchWords(call *op.Call, keys source, rows int, counted memory.Slice[int64]) (read [sketchWordCount]uint64, err error) {
	block, buffers, err := call.Scratch(8 * sketchWordCount)
	if err != nil {
		return read, err
	}
	defer func() { err = errors.Join(err, block.Release()) }()
	all := buffers[0]
	registers, err := all.Slice(8*sketchBoundWords, all.Len())
	if err != nil {
		return read, err
	}
	if err := all.Fill(call.Stream, 0); err != nil {
		return read, err
	}
	kernel, err := call.Kernel(&aggregateSet, "sketch", "sketch_keys")
	if err != nil {
		return read, err
	}
	blocks := min(sketchBlocks*max(call.Stream.Device().Info().Multiprocessors, 1), max(rows-1, 0)/(sketchThreads*sketchRows)+1)
	err = kernel.Launch(call.Stream, device.Dim3{X: uint32(blocks)}, device.Dim3{X: sketchThreads}, 0, all, registers, keys.argument(), counted, int64(rows))
	if err != nil {
		return read, err
	}
	words, err := memory.Reinterpret[uint64](all)
	if err != nil {
		return read, err
	}
	err = words.Download(call.Context(), call.Stream, read[:])
	return read, err
}

// distinctOf estimates the number of different keys of which registers have the ranks, by the estimator of Ertl (New
// cardinality estimation algorithms for HyperLogLog sketches, 2017, algorithm 6), which has no tables and
// no bias for few keys.
func distinctOf(registers []uint32) uint64 {
	var counts [mostRank + 1]float64
	for _, rank := range registers {
		counts[min(rank, mostRank)]++
	}
	m := float64(len(registers))
	z := m * tau(1-counts[mostRank]/m)
	for rank := mostRank - 1; rank >= 1; rank-- {
		z = (z + counts[rank]) / 2
	}
	z += m * sigma(counts[0]/m)
	return uint64(math.Round(m * m / (2 * math.Ln2 * z)))
}

// sigma is x + Σ 2^(k−1) x^(2^k), which corrects for registers without keys.
func sigma(x float64) float64 {
	if x == 1 {
		return math.Inf(1)
	}
	sum := x
	for factor, before := 1.0, -1.0; sum != before; factor *= 2 {
		x *= x
		before = sum
		sum += x * factor
	}
	return sum
}

// tau is (1 − x − Σ 2^−k (1 − x^(2^−k))²) / 3, which corrects for registers with the greatest rank.
func tau(x float64) float64 {
	if x == 0 || x == 1 {
		return 0
	}
	sum := 1 - x
	for factor, before := 0.5, -1.0; sum != before; factor /= 2 {
		x = math.Sqrt(x)
		before = sum
		sum -= (1 - x) * (1 - x) * factor
	}
	return sum / 3
}
