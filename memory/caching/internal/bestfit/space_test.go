package bestfit

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/internal/testing/allocations"
	"github.com/gpuframe/gpuframe/internal/testing/property"
)

// TestSpaceIsListsOfRuns compares a space with one list of runs per segment.
func TestSpaceIsListsOfRuns(t *testing.T) {
	type run struct {
		node           *Node
		address, bytes uint64
		mark           uint64
	}
	property.Check(t, func(t *rapid.T) {
		var (
			space    Space
			segments [][]run
			most     int
			end      uint64
		)
		room := uint64(1 << 30)
		pick := func(t *rapid.T) (segment, index int) {
			if len(segments) == 0 {
				t.Skip("nothing there")
			}
			segment = rapid.IntRange(0, len(segments)-1).Draw(t, "segment")
			return segment, rapid.IntRange(0, len(segments[segment])-1).Draw(t, "run")
		}
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) {
				count := 0
				for _, segment := range segments {
					n, previous := segment[0].node, (*Node)(nil)
					for _, r := range segment {
						require.Same(t, r.node, n)
						require.Same(t, previous, space.Previous(n))
						require.Equal(t, []uint64{r.address, r.bytes, r.mark, r.mark, r.mark, r.mark},
							[]uint64{n.Address, n.Bytes, n.Mark, uint64(n.Owner), uint64(n.State), uint64(n.Pool)})
						previous, n = n, space.Next(n)
						count++
					}
					require.Nil(t, n)
					checkSegment(t, &space, segment[0].node)
				}
				require.Equal(t, count, space.Len())
				most = max(most, count)
				require.LessOrEqual(t, int(space.nodes.used), most, "nodes are used again")
			},
			"add": func(t *rapid.T) {
				bytes := rapid.Uint64Range(1, room/2).Draw(t, "bytes")
				n := space.Add(end, bytes)
				segments = append(segments, []run{{node: n, address: end, bytes: bytes}})
				end += room
			},
			"append": func(t *rapid.T) {
				i, j := pick(t)
				bytes := rapid.Uint64Range(1, 1<<20).Draw(t, "bytes")
				r := segments[i][j]
				n := space.Append(r.node, bytes)
				if j < len(segments[i])-1 {
					require.Nil(t, n)
					return
				}
				segments[i] = append(segments[i], run{node: n, address: r.address + r.bytes, bytes: bytes})
			},
			"split": func(t *rapid.T) {
				i, j := pick(t)
				r := &segments[i][j]
				bytes := rapid.Uint64Range(0, r.bytes+1).Draw(t, "bytes")
				n := space.Split(r.node, bytes)
				if bytes == 0 || bytes >= r.bytes {
					require.Nil(t, n)
					return
				}
				rest := run{node: n, address: r.address + bytes, bytes: r.bytes - bytes, mark: r.mark}
				r.bytes = bytes
				segments[i] = slices.Insert(segments[i], j+1, rest)
			},
			"join": func(t *rapid.T) {
				i, j := pick(t)
				space.Join(segments[i][j].node)
				if j < len(segments[i])-1 {
					segments[i][j].bytes += segments[i][j+1].bytes
					segments[i] = slices.Delete(segments[i], j+1, j+2)
				}
			},
			"remove": func(t *rapid.T) {
				i, j := pick(t)
				space.Remove(segments[i][j].node)
				after := slices.Clone(segments[i][j+1:])
				segments[i] = segments[i][:j]
				if len(segments[i]) == 0 {
					segments = slices.Delete(segments, i, i+1)
				}
				if len(after) > 0 {
					segments = append(segments, after)
				}
			},
			"mark": func(t *rapid.T) {
				i, j := pick(t)
				mark := rapid.Uint8().Draw(t, "mark")
				n := segments[i][j].node
				n.Mark, n.Owner, n.State, n.Pool = uint64(mark), uint32(mark), mark, mark
				segments[i][j].mark = uint64(mark)
			},
		})
	})
}

// TestHeapFitsBest runs random operations on this package's test allocator and
// compares each choice with a scan of all runs.
func TestHeapFitsBest(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		var (
			h    heap
			live []*Node
		)
		maximum := rapid.SampledFrom([]uint64{4, 64, 3000, 100_000}).Draw(t, "maximum")
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) { checkHeap(t, &h) },
			"allocate": func(t *rapid.T) {
				for range rapid.IntRange(1, 10).Draw(t, "count") {
					bytes := rapid.Uint64Range(1, maximum).Draw(t, "grains") << 9
					best := bestFit(&h, bytes)
					require.Same(t, best, h.free.Find(&h.space, bytes))
					n := h.allocate(bytes)
					require.Equal(t, bytes, n.Bytes)
					if best != nil {
						require.Same(t, best, n)
					}
					live = append(live, n)
				}
			},
			"release": func(t *rapid.T) {
				for range rapid.IntRange(1, 10).Draw(t, "count") {
					if len(live) == 0 {
						return
					}
					i := rapid.IntRange(0, len(live)-1).Draw(t, "index")
					h.release(live[i])
					live = slices.Delete(live, i, i+1)
				}
			},
		})
		for _, n := range live {
			h.release(n)
		}
		checkHeap(t, &h)
		if h.last != nil {
			require.Equal(t, 1, h.space.Len(), "all is one run again")
		}
	})
}

// TestCrowdedHeap runs the benchmark's workload, for which the package is designed,
// and checks the result.
func TestCrowdedHeap(t *testing.T) {
	h, live := crowded()
	checkHeap(t, h)
	require.Greater(t, h.space.Len(), 40_000)
	random := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		bytes := (1 + random.Uint64N(2<<20)) &^ 511
		require.Same(t, bestFit(h, bytes), h.free.Find(&h.space, bytes))
	}
	for _, n := range live {
		h.release(n)
	}
	checkHeap(t, h)
	assert.Equal(t, 1, h.space.Len())
	assert.Zero(t, h.inUse)
}

func TestNothingIsAllocatedInTheLongRun(t *testing.T) {
	h, live := crowded()
	random := rand.New(rand.NewPCG(7, 8))
	churn := func() {
		i := random.IntN(len(live))
		bytes := live[i].Bytes
		h.release(live[i])
		live[i] = h.allocate(bytes)
	}
	for range 10_000 {
		churn()
	}
	assert.Zero(t, allocations.PerRun(churn))
}
