package rowkey_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/keys/rowkey"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/ordertest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/memory"
)

// keys are arrays and how they are ordered.
type keys struct {
	arrays     []arrow.Array
	directions []ordertest.Direction
}

func (k keys) release() {
	for _, a := range k.arrays {
		a.Release()
	}
}

// plan uploads the keys and plans them, with the ranks of the model.
func (k keys) plan(t require.TestingT, mgr *memory.Manager) (plan *rowkey.Plan, release func()) {
	var list []rowkey.Key
	for i, a := range k.arrays {
		c, err := column.FromArray(context.Background(), mgr, a, column.UploadOptions{})
		require.NoError(t, err)
		d := k.directions[i]
		list = append(list, rowkey.Key{Column: c, Descending: d.Descending, NullsFirst: d.NullsFirst})
	}
	sources, err := rowkey.Sources(list)
	require.NoError(t, err)
	for i := range sources {
		rank(t, mgr, &sources[i])
	}
	return rowkey.NewPlan(sources), func() {
		require.NoError(t, rowkey.Release(sources))
		for _, key := range list {
			require.NoError(t, key.Column.Release())
		}
	}
}

func rank(t require.TestingT, mgr *memory.Manager, s *rowkey.Source) {
	var of *column.Column
	d := ordertest.Direction{NullsFirst: s.InnerNullsFirst != s.Descending}
	switch s.Storage {
	case rowkey.Ranked:
		of = s.Column.Dictionary()
	case rowkey.Symbols:
		of = s.Column.Child(0)
	default:
		return
	}
	a, err := of.Array(context.Background())
	require.NoError(t, err)
	defer a.Release()
	ranks := ordertest.DenseRanks(a, d)
	for i := range ranks {
		if s.Storage == rowkey.Ranked && a.IsNull(i) {
			ranks[i] = 0
		}
	}
	s.Ranks, err = column.FromSlice(context.Background(), mgr, ranks, column.SliceOptions{})
	require.NoError(t, err)
}

// sequences returns all words of all rows, as the package's documentation defines them.
func sequences(plan *rowkey.Plan, host *rowkey.Host, n int) [][]uint64 {
	all := make([][]uint64, n)
	add := func(write func(rows rowkey.Rows, words []uint64)) {
		words := make([]uint64, n)
		write(rowkey.Rows{}, words)
		for row, word := range words {
			all[row] = append(all[row], word)
		}
	}
	for number := range plan.Segments {
		s := &plan.Segments[number]
		for word := range s.Words() {
			add(func(rows rowkey.Rows, words []uint64) { host.Encode(number, word, rows, words) })
		}
		if s.Tail == nil || n == 0 {
			continue
		}
		listed := make([]uint32, n)
		for i := range listed {
			listed[i] = uint32(i)
		}
		_, end := host.TailAgreement(s.Tail, s.Tail.Skip, 0, listed)
		for at := s.Tail.Skip; at < end; at += host.TailUnits(s.Tail) {
			add(func(_ rowkey.Rows, words []uint64) { host.EncodeTail(s.Tail, at, rowkey.Rows{Listed: listed}, words) })
		}
		add(func(rows rowkey.Rows, words []uint64) { host.EncodeLength(s.Tail, rows, words) })
	}
	return all
}

// check compares the order of words, and that of Compare, with the model.
func (k keys) check(t require.TestingT, mgr *memory.Manager, name string) {
	plan, release := k.plan(t, mgr)
	defer release()
	host, err := rowkey.NewHost(plan)
	require.NoError(t, err)
	n := k.arrays[0].Len()
	words := sequences(plan, host, n)
	for i := range n {
		for j := range n {
			want := ordertest.CompareRows(k.arrays, i, k.arrays, j, k.directions)
			if got := slices.Compare(words[i], words[j]); got != sign(want) {
				require.FailNow(t, "words", "%s: rows %d and %d are %d, expected %d\n%x\n%x", name, i, j, got, want, words[i], words[j])
			}
			if got := host.Compare(i, j, rowkey.Position{}); sign(got) != sign(want) {
				require.FailNow(t, "Compare", "%s: rows %d and %d are %d, expected %d", name, i, j, got, want)
			}
		}
	}
	k.checkNeighbours(t, host, name)
	s := &plan.Segments[0]
	for row := range n {
		for word := range s.Words() {
			require.Equal(t, words[row][word], host.Word(0, word, row), name)
			require.Zero(t, words[row][word]>>1>>(s.WordLength(word)-1), "%s: unused bits", name)
		}
	}
}

// checkNeighbours compares rows with those before them: in their order, and in the reverse one from the middle on.
func (k keys) checkNeighbours(t require.TestingT, host *rowkey.Host, name string) {
	n := k.arrays[0].Len()
	listed := make([]uint32, n)
	for i := range listed {
		listed[i] = uint32(n - 1 - i)
	}
	inOrder, reverse := host.Neighbours(rowkey.Rows{}, n), host.Neighbours(rowkey.Rows{Listed: listed}, n)
	for i := 1; i < n; i++ {
		want := ordertest.CompareRows(k.arrays, i-1, k.arrays, i, k.directions) != 0
		require.Equal(t, want, inOrder.Differ(i), "%s: rows %d and %d", name, i-1, i)
		at := 1 + (i+n/2)%(n-1)
		want = ordertest.CompareRows(k.arrays, n-at, k.arrays, n-1-at, k.directions) != 0
		require.Equal(t, want, reverse.Differ(at), "%s: rows %d and %d of the list", name, at-1, at)
	}
}

// TestNeighboursOfBlocks compares rows of several blocks.
func TestNeighboursOfBlocks(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	for number, dataType := range []arrow.DataType{arrow.FixedWidthTypes.Boolean, &arrow.Decimal128Type{Precision: 9, Scale: 2}, arrow.BinaryTypes.String} {
		g := arraytest.NewGenerator(uint64(number))
		k := keys{[]arrow.Array{ordertest.Array(g, dataType, 3000)}, ordertest.Directions[:1]}
		plan, release := k.plan(t, mgr)
		host, err := rowkey.NewHost(plan)
		require.NoError(t, err)
		k.checkNeighbours(t, host, dataType.String())
		release()
		k.release()
	}
}

func sign(x int) int { return cmp.Compare(x, 0) }

// TestEveryType compares the order of the words of one key with the model.
func TestEveryType(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	for number, of := range ordertest.Types() {
		g := arraytest.NewGenerator(uint64(number))
		for _, d := range ordertest.Directions {
			for _, nulls := range []arraytest.Nulls{arraytest.SomeNull, arraytest.NoneNull, arraytest.AllNull} {
				g.Nulls, g.Sliced = nulls, g.IntN(2) == 0
				k := keys{[]arrow.Array{ordertest.Array(g, of, 40)}, []ordertest.Direction{d}}
				k.check(t, mgr, fmt.Sprint(of, d, nulls))
				k.release()
			}
		}
	}
}

// TestMixes compares the order of the words of several keys with the model.
func TestMixes(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	property.Check(t, func(t *rapid.T) {
		g := arraytest.NewGenerator(rapid.Uint64().Draw(t, "seed"))
		g.Sliced = rapid.Bool().Draw(t, "sliced")
		n := rapid.IntRange(0, 40).Draw(t, "rows")
		var k keys
		for range rapid.IntRange(1, 4).Draw(t, "keys") {
			g.Nulls = arraytest.Nulls(rapid.IntRange(0, 2).Draw(t, "nulls"))
			of := rapid.SampledFrom(ordertest.Types()).Draw(t, "type")
			k.arrays = append(k.arrays, ordertest.Array(g, of, n))
			k.directions = append(k.directions, rapid.SampledFrom(ordertest.Directions).Draw(t, "direction"))
		}
		k.check(t, mgr, "mix")
		k.release()
	})
}
