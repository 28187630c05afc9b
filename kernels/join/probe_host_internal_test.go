package join

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/base/address"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// TestHostProbesWithMarks compares the rows that marks of hashes and of places lead to with those of a map.
func TestHostProbesWithMarks(t *testing.T) {
	const build, probed = 1 << 14, 1 << 16
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	for _, keys := range []uint64{build / 2, 4 * build, 1 << 40} {
		for _, places := range []bool{false, true} {
			if places && keys > 1<<20 {
				continue
			}
			table := &table{size: 2 * build, rows: build, mask: 1<<64 - 1, seed: rand.Uint64(), factor: rand.Uint64() | 1, distinct: true}
			h := hostTable{table: table, slots: make([]uint64, 4*build+2)}
			for i := range h.slots {
				h.slots[i] = empty
			}
			if places {
				table.least, h.slots = 5, nil
				h.rowsOf = make([]uint32, 16*build)
				for i := range h.rowsOf {
					h.rowsOf[i] = noRow
				}
			}
			rows := map[uint64]uint32{}
			for row := range uint32(build) {
				word := 5 + rand.Uint64N(keys)
				if _, again := h.insert(word, uint64(row)); !again {
					rows[word] = row
				}
			}
			words, want := make([]uint64, probed), make([]uint32, probed)
			for i := range words {
				words[i], want[i] = 5+rand.Uint64N(4*keys), noRow
				if i%7 == 0 && !places {
					words[i] = empty
				}
				if row, ok := rows[words[i]]; ok {
					want[i] = row
				}
			}
			w := &hostWords{HostView: op.HostView{Values: address.BytesOf(words), Rows: probed}, wide: true}
			begun, err := op.Begin(t.Context(), kernels.Options{Manager: mgr})
			require.NoError(t, err)
			c := &call{Call: begun}
			p := hostProbe{hostTable: &h, words: w, first: make([]uint32, probed)}
			require.NoError(t, p.mark(c))
			require.NotNil(t, p.marks, "%d keys, places %v", keys, places)
			p.rows(0, probed)
			require.Equal(t, want, p.first)
		}
	}
}
