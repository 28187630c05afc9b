package main

import (
	"fmt"

	"github.com/gpuframe/gpuframe"
)

// Each key of the questions has a seed of its own.
const (
	valueSeed = iota + 1
	joinSeed
	groupSeed // and the ones above
)

// groups are the numbers of groups of the questions.
var groups = []int64{100, 10_000, 1_000_000}

func groupKey(n int64) string { return fmt.Sprintf("id%d", n) }

// fact returns the columns of the large table.
func fact(rows int64) []field {
	list := []field{
		{name: "v", f64: func(row uint64) float64 { return float64(draw(valueSeed, row, 1<<32)) * 0x1p-25 }},
		{name: "k", i32: func(row uint64) int32 { return int32(draw(joinSeed, row, small(rows))) }},
	}
	for i, n := range groups {
		list = append(list, field{name: groupKey(n), i32: func(row uint64) int32 { return int32(draw(groupSeed+uint64(i), row, n)) }})
	}
	return list
}

// small returns the number of rows of the other table of the join.
func small(rows int64) int64 { return max(rows/10, 1) }

// dimension returns the columns of the other table. Its keys are 0 to rows-1, in the order of
// a multiplication by an odd number that has no common divisor with rows.
func dimension(rows int64) []field {
	step := uint64(rows)*5/8 | 1
	for common(step, uint64(rows)) != 1 {
		step += 2
	}
	return []field{
		{name: "id", i32: func(row uint64) int32 { return int32(row * step % uint64(rows)) }},
		{name: "w", f64: func(row uint64) float64 { return float64(row % 1000) }},
	}
}

func common(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// question is a query on both tables.
type question struct {
	name  string
	query func(fact, dimension gpuframe.Query) gpuframe.Query
	// check makes of the result what is compared.
	check func(result gpuframe.Query) gpuframe.Query
}

// questions returns the questions. Their names begin with groupby, join or sum.
func questions() (list []question) {
	v, w := gpuframe.Col("v"), gpuframe.Col("w")
	for _, n := range groups {
		key := gpuframe.Col(groupKey(n))
		list = append(list, question{
			name:  fmt.Sprintf("groupby, sum of v by %d groups", n),
			query: func(fact, _ gpuframe.Query) gpuframe.Query { return fact.GroupBy(key).Agg(v.Sum()) },
			check: func(result gpuframe.Query) gpuframe.Query { return result.Sort(key) },
		})
	}
	same := func(result gpuframe.Query) gpuframe.Query { return result }
	joined := func(fact, dimension gpuframe.Query) gpuframe.Query {
		return fact.Join(dimension, gpuframe.Inner, gpuframe.On(gpuframe.Col("k"), gpuframe.Col("id")))
	}
	return append(list,
		question{"sum of v", func(fact, _ gpuframe.Query) gpuframe.Query { return fact.Select(v.Sum()) }, same},
		question{"join, sum of v and of w of all pairs", func(fact, dimension gpuframe.Query) gpuframe.Query {
			return joined(fact, dimension).Select(v.Sum(), w.Sum())
		}, same},
		question{"join, sum of v × w by 100 groups", func(fact, dimension gpuframe.Query) gpuframe.Query {
			return joined(fact, dimension).GroupBy(gpuframe.Col(groupKey(100))).Agg(v.Mul(w).Sum().As("vw"))
		}, func(result gpuframe.Query) gpuframe.Query { return result.Sort(gpuframe.Col(groupKey(100))) }},
	)
}
