package bestfit

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/internal/testing/property"
)

// model is a set as a sorted slice.
type model []*Node

func bySize(a, b *Node) int {
	return cmp.Or(cmp.Compare(a.Bytes, b.Bytes), cmp.Compare(a.Address, b.Address))
}

func (m *model) insert(n *Node) {
	i, _ := slices.BinarySearchFunc(*m, n, bySize)
	*m = slices.Insert(*m, i, n)
}

func (m *model) remove(n *Node) {
	i, _ := slices.BinarySearchFunc(*m, n, bySize)
	*m = slices.Delete(*m, i, i+1)
}

func (m model) find(bytes uint64) *Node {
	i, _ := slices.BinarySearchFunc(m, &Node{Bytes: bytes}, bySize)
	if i == len(m) {
		return nil
	}
	return m[i]
}

// checkOrder requires that a set enumerates the runs of the model.
func checkOrder(t tester, s *Space, set *Set, m model) {
	t.Helper()
	i := 0
	set.Each(s, func(n *Node) bool {
		if i >= len(m) || m[i] != n {
			require.Failf(t, "order", "%+v at index %d of %d", n, i, len(m))
		}
		i++
		return true
	})
	require.Len(t, m, i)
	if len(m) == 0 {
		require.Nil(t, set.Largest(s))
	} else {
		require.Same(t, m[len(m)-1], set.Largest(s))
	}
}

// sizes draws sizes of several kinds: typical sizes of allocators, a few different
// ones, so that classes fill, and arbitrary ones.
func sizes() *rapid.Generator[uint64] {
	return rapid.OneOf(
		rapid.Map(rapid.Uint64Range(1, 2100), func(grains uint64) uint64 { return grains << 9 }),
		rapid.SampledFrom([]uint64{512, 4096, 1 << 20, 1<<20 + 512, 2 << 20, 20 << 20}),
		rapid.Uint64Range(1, 600),
		rapid.Uint64Range(1, 1<<21),
		rapid.Uint64Range(1, 1<<40),
	)
}

func TestSetIsASortedSlice(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		var (
			space Space
			sets  [2]Set
			model [2]model
			out   []*Node
			end   uint64 = uint64(rapid.Uint32().Draw(t, "start"))
		)
		which := rapid.IntRange(0, 1)
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) {
				checkSets(t, &space, &sets[0], &sets[1])
				for i := range sets {
					require.Equal(t, len(model[i]), sets[i].Len())
				}
			},
			"insert": func(t *rapid.T) {
				i, bytes := which.Draw(t, "set"), sizes().Draw(t, "bytes")
				gap := rapid.SampledFrom([]uint64{0, 1, 512}).Draw(t, "gap")
				for range rapid.IntRange(1, 60).Draw(t, "count") {
					end += gap
					n := space.Add(end, bytes)
					end += bytes
					if !sets[i].Insert(&space, n) || sets[0].Insert(&space, n) || sets[1].Insert(&space, n) {
						require.Failf(t, "insert", "not once: %+v", n)
					}
					model[i].insert(n)
				}
			},
			"remove": func(t *rapid.T) {
				i := which.Draw(t, "set")
				stride := rapid.IntRange(0, 1000).Draw(t, "stride")
				for at := range rapid.IntRange(1, 60).Draw(t, "count") {
					if len(model[i]) == 0 {
						return
					}
					n := model[i][at*stride%len(model[i])]
					if sets[1-i].Remove(&space, n) || !sets[i].Remove(&space, n) || sets[i].Remove(&space, n) {
						require.Failf(t, "remove", "not once, or from the wrong set: %+v", n)
					}
					model[i].remove(n)
					out = append(out, n)
				}
			},
			"return": func(t *rapid.T) {
				i := which.Draw(t, "set")
				for _, n := range out {
					require.True(t, sets[i].Insert(&space, n))
					model[i].insert(n)
				}
				out = nil
			},
			"find": func(t *rapid.T) {
				i := which.Draw(t, "set")
				bytes := sizes().Draw(t, "bytes")
				if len(model[i]) > 0 && rapid.Bool().Draw(t, "near") {
					n := model[i][rapid.IntRange(0, len(model[i])-1).Draw(t, "index")]
					bytes = n.Bytes + rapid.Uint64Range(0, 2).Draw(t, "more") - 1
				}
				require.Same(t, model[i].find(bytes), sets[i].Find(&space, bytes))
			},
			"order": func(t *rapid.T) {
				i := which.Draw(t, "set")
				checkOrder(t, &space, &sets[i], model[i])
			},
		})
	})
}

// TestSetWithDeepTrees fills and empties single classes far enough that their trees
// have three levels. The sequences of rapid are too short for that.
func TestSetWithDeepTrees(t *testing.T) {
	for name, bytes := range map[string]uint64{"fine": 512, "coarse": 20 << 20} {
		t.Run(name, func(t *testing.T) {
			var (
				space Space
				set   Set
				in    model
				out   []*Node
			)
			random := rand.New(rand.NewPCG(1, bytes))
			for i := range uint64(3000) {
				out = append(out, space.Add(i*2*bytes, bytes+random.Uint64N(2)))
			}
			random.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
			level := uint32(0)
			for _, share := range []float64{0.9, 0.1, 0.7, 0.3, 0.6, 0} {
				for steps := 0; len(out) > 0 && steps < 20_000 || share == 0 && len(in) > 0; steps++ {
					if len(in) == 0 || len(out) > 0 && random.Float64() < share {
						n := out[len(out)-1]
						out = out[:len(out)-1]
						require.True(t, set.Insert(&space, n))
						in.insert(n)
					} else {
						n := in[random.IntN(len(in))]
						require.True(t, set.Remove(&space, n))
						in.remove(n)
						out = append(out, n)
					}
					class, _ := classOf(bytes)
					if root := set.table.roots[class]; root != 0 && root&single == 0 {
						level = max(level, space.pages.at(root).level)
					}
				}
				checkSets(t, &space, &set)
				checkOrder(t, &space, &set, in)
			}
			assert.Zero(t, set.Len())
			assert.GreaterOrEqual(t, level, uint32(2))
		})
	}
}

func TestSetEachMayTakeRunsAway(t *testing.T) {
	var (
		space Space
		set   Set
	)
	for i := range uint64(500) {
		set.Insert(&space, space.Add(i<<21, 512*(1+i%7)))
	}
	var kept, taken int
	set.Each(&space, func(n *Node) bool {
		if n.Bytes%1024 == 0 {
			kept++
			return true
		}
		taken++
		set.Remove(&space, n)
		space.Remove(n)
		return true
	})
	assert.Equal(t, 500, kept+taken)
	assert.Equal(t, kept, set.Len())
	assert.Equal(t, kept, space.Len())
	checkSets(t, &space, &set)

	visits := 0
	set.Each(&space, func(*Node) bool { visits++; return visits < 3 })
	assert.Equal(t, 3, visits, "stops when told")
}

func TestEmptySet(t *testing.T) {
	var (
		space Space
		set   Set
	)
	assert.Nil(t, set.Find(&space, 1))
	assert.Nil(t, set.Largest(&space))
	set.Each(&space, func(*Node) bool { t.Error("nothing to visit"); return true })
	assert.False(t, set.Remove(&space, space.Add(0, 1)))
	assert.False(t, set.Insert(&space, space.Add(1, 0)), "no bytes")
	assert.Nil(t, set.table, "no table before there is a run")
}

func TestClasses(t *testing.T) {
	class, width := classOf(1)
	assert.EqualValues(t, 0, class)
	assert.EqualValues(t, 0, width)
	last, _ := classOf(^uint64(0))
	assert.EqualValues(t, classCount-1, last)

	// Each class begins where the previous one ends: no class is skipped, and the
	// width is the number of sizes.
	var expected uint
	for bytes := uint64(1); bytes != 0; {
		class, width := classOf(bytes)
		require.Equal(t, expected, class, "size %d", bytes)
		require.GreaterOrEqual(t, bytes, uint64(1)<<width)
		end := bytes + 1<<width
		if bytes == fineLimit+512 { // the last fine class holds the first 512 sizes of this class
			end -= 512
		}
		inside, _ := classOf(end - 1)
		require.Equal(t, class, inside, "size %d", end-1)
		expected++
		bytes = end
	}
	assert.EqualValues(t, classCount, expected)
}

func TestKeysOrderRunsThatDoNotOverlap(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		a := Node{Bytes: sizes().Draw(t, "bytes"), Address: rapid.Uint64Range(0, 1<<63).Draw(t, "address")}
		class, width := classOf(a.Bytes)
		var b Node
		b.Bytes = a.Bytes&^(1<<width-1) + rapid.Uint64Range(0, 1<<width-1).Draw(t, "more")
		if same, _ := classOf(b.Bytes); same != class {
			t.Skip("the first coarse class begins late")
		}
		b.Address = a.Address + a.Bytes + rapid.Uint64Range(0, 4096).Draw(t, "gap")
		require.Equal(t, bySize(&a, &b),
			cmp.Compare(keyOf(a.Bytes, a.Address, width), keyOf(b.Bytes, b.Address, width)))
	})
}

func TestSizes(t *testing.T) {
	assert.EqualValues(t, 256, unsafe.Sizeof(page{}), "a page fills cache lines")
	assert.LessOrEqual(t, unsafe.Sizeof(Node{}), uintptr(64), "a node fits a cache line")
	assert.LessOrEqual(t, unsafe.Sizeof(table{}), uintptr(12<<10))
}
