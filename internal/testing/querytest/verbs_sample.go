package querytest

import (
	"cmp"
	"math"
	"slices"

	"github.com/gpuframe/gpuframe"
)

// sample keeps random rows, which are those of the numbers of Philox4x32-10.
func (g *generator) sample(s state) state {
	if !s.table.Ordered || g.options.SQL {
		return s
	}
	rows, seed := s.table.Rows, uint64(g.choose("seed", 1000))<<30
	numbers := make([]int, len(rows)) // of all rows in a random order
	for i := range numbers {
		numbers[i] = i
	}
	slices.SortStableFunc(numbers, func(a, b int) int { return cmp.Compare(philox(seed, uint64(a)), philox(seed, uint64(b))) })
	switch g.choose("sample", 3) {
	case 0:
		eighths := g.choose("eighths", 9)
		var kept []Row
		for i, row := range rows {
			if float64(philox(seed, uint64(i)))/(1<<64) < float64(eighths)/8 || eighths == 8 {
				kept = append(kept, row)
			}
		}
		q := s.query.Sample(float64(eighths)/8, gpuframe.SampleOptions{Seed: seed})
		return s.then(q, s.table.with(kept), "Sample(%d / 8, seed %d)", eighths, seed)
	case 1:
		n := g.choose("sampled rows", 9)
		kept := slices.Clone(numbers[:min(n, len(numbers))])
		slices.Sort(kept)
		q := s.query.SampleRows(int64(n), gpuframe.SampleOptions{Seed: seed})
		return s.then(q, s.table.with(at(rows, kept)), "SampleRows(%d, seed %d)", n, seed)
	}
	return s.then(s.query.Shuffle(seed), s.table.with(at(rows, numbers)), "Shuffle(%d)", seed)
}

// at returns the rows of some numbers.
func at(rows []Row, numbers []int) []Row {
	picked := make([]Row, len(numbers))
	for i, n := range numbers {
		picked[i] = rows[n]
	}
	return picked
}

// philox is the first half of block n of Philox4x32-10, with the seed as the key.
func philox(seed, n uint64) uint64 {
	key, counter := [2]uint64{seed & math.MaxUint32, seed >> 32}, [4]uint64{n & math.MaxUint32, n >> 32}
	for round := range uint64(10) {
		a, b := counter[0]*0xD2511F53, counter[2]*0xCD9E8D57
		left := (key[0] + round*0x9E3779B9) & math.MaxUint32
		right := (key[1] + round*0xBB67AE85) & math.MaxUint32
		counter = [4]uint64{b>>32 ^ counter[1] ^ left, b & math.MaxUint32, a>>32 ^ counter[3] ^ right, a & math.MaxUint32}
	}
	return counter[1]<<32 | counter[0]
}
