package window

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// randomValues are values in partitions, with frames whose ends move in any direction.
func randomValues(random *rand.Rand, n, values, longest int) *placedValues {
	p := &placedValues{numbers: make([]uint32, n), rows: make([]uint32, n), frame: hostFrame{lows: make([]uint32, n), highs: make([]uint32, n)}}
	for place, row := range random.Perm(n) {
		p.rows[place], p.numbers[place] = uint32(row), uint32(random.IntN(values+1))
	}
	p.heads = append(p.heads, 0)
	for place := 1; place < n; place += 1 + random.IntN(n) {
		p.heads = append(p.heads, place)
	}
	p.heads = append(p.heads, n)
	for i := range len(p.heads) - 1 {
		for place := p.heads[i]; place < p.heads[i+1]; place++ {
			low := p.heads[i] + random.IntN(p.heads[i+1]-p.heads[i])
			p.frame.lows[place], p.frame.highs[place] = uint32(low), uint32(low+random.IntN(min(longest, p.heads[i+1]-low)+1))
		}
	}
	return p
}

// requireFrequencies compares the results of a place with those of its frame alone.
func requireFrequencies(t *testing.T, p *placedValues, place int, distinct []int64, valid []byte, modes []uint32) {
	t.Helper()
	frame := p.numbers[p.frame.lows[place]:p.frame.highs[place]]
	counts, first := map[uint32]int{}, map[uint32]int{}
	total := 0
	for i, n := range frame {
		if n == 0 {
			continue
		}
		total++
		if counts[n]++; counts[n] == 1 {
			first[n] = int(p.frame.lows[place]) + i
		}
	}
	row, best := p.rows[place], uint32(0)
	for n := range counts {
		if best == 0 || counts[n] > counts[best] || counts[n] == counts[best] && first[n] < first[best] {
			best = n
		}
	}
	wantMode := uint32(noRow)
	if total >= 2 {
		wantMode = p.rows[first[best]]
		require.EqualValues(t, len(counts), distinct[row], "place %d", place)
	}
	require.Equal(t, total >= 2, valid[row/8]>>(row%8)&1 == 1, "place %d", place)
	require.Equal(t, wantMode, modes[row], "place %d", place)
}

func TestFrequenciesOfFrames(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		p := randomValues(random, 1+random.IntN(60), 1+random.IntN(8), 1+random.IntN(60))
		distinct, valid, err := p.distinct(context.Background(), 2)
		require.NoError(t, err)
		modes, err := p.modes(context.Background(), 2)
		require.NoError(t, err)
		for place := range p.numbers {
			requireFrequencies(t, p, place, distinct, valid, modes)
		}
	}
}

// TestManyFrequencies has more changes of frequencies than candidates are kept.
func TestManyFrequencies(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 7))
	p := randomValues(random, 200_000, 10, 40)
	slices.Sort(p.frame.lows[p.heads[0]:p.heads[1]])
	for place := range p.frame.highs {
		p.frame.highs[place] = min(p.frame.lows[place]+40, uint32(p.heads[1+slices.IndexFunc(p.heads[1:], func(end int) bool { return place < end })]))
	}
	distinct, valid, err := p.distinct(context.Background(), 2)
	require.NoError(t, err)
	modes, err := p.modes(context.Background(), 2)
	require.NoError(t, err)
	for place := 0; place < len(p.numbers); place += 997 {
		requireFrequencies(t, p, place, distinct, valid, modes)
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = p.modes(cancelled, 0)
	require.ErrorIs(t, err, context.Canceled)
}
