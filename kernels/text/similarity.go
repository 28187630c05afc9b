package text

import (
	"context"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/gpuframe/gpuframe/internal/base/lazy"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

var (
	jaroFunction        = lazy.Value[*hostFunction]{Make: func() *hostFunction { return similarityFunction("jaro", jaro) }}
	jaroWinklerFunction = lazy.Value[*hostFunction]{Make: func() *hostFunction { return similarityFunction("jaro_winkler", jaroWinkler) }}
	jaccardFunction     = lazy.Value[*hostFunction]{Make: func() *hostFunction { return similarityFunction("jaccard", jaccard) }}
)

// JaroSimilarity is the similarity of Jaro of two strings, 0 to 1, by their characters. The host computes it.
func JaroSimilarity(a, b expr.Expr) expr.Expr {
	return onHost(hosted{function: jaroFunction.Get()}, a, b)
}

// JaroWinklerSimilarity is [JaroSimilarity], raised for a common beginning of up to four characters if it is above
// 0.7. The host computes it.
func JaroWinklerSimilarity(a, b expr.Expr) expr.Expr {
	return onHost(hosted{function: jaroWinklerFunction.Get()}, a, b)
}

// JaccardSimilarity is the number of different characters that two strings share, divided by that of those in
// either: 1 for two empty strings. The host computes it.
func JaccardSimilarity(a, b expr.Expr) expr.Expr {
	return onHost(hosted{function: jaccardFunction.Get()}, a, b)
}

func similarityFunction(name string, f func(a, b []rune) float64) *hostFunction {
	return &hostFunction{name: name, result: ofStrings(arrow.PrimitiveTypes.Float64), rows: func(_ context.Context, _ hosted, operands []arrow.Array) (appendRow, error) {
		a, b := stringsOf(operands[0]), stringsOf(operands[1])
		return func(row int, to array.Builder) {
			to.(*array.Float64Builder).Append(f(characters([]byte(a(row))), characters([]byte(b(row)))))
		}, nil
	}}
}

// jaro is a third of the shares of matching characters in both strings and of matches in the same order.
func jaro(a, b []rune) float64 {
	if len(a) == 0 && len(b) == 0 {
		return 1
	}
	window := max(0, max(len(a), len(b))/2-1)
	used := make([]bool, len(b))
	var matches []rune
	for i, r := range a {
		for k := max(0, i-window); k < min(len(b), i+window+1); k++ {
			if !used[k] && b[k] == r {
				used[k], matches = true, append(matches, r)
				break
			}
		}
	}
	m := float64(len(matches))
	if m == 0 {
		return 0
	}
	moved, next := 0, 0
	for k, isUsed := range used {
		if !isUsed {
			continue
		}
		if b[k] != matches[next] {
			moved++
		}
		next++
	}
	return (m/float64(len(a)) + m/float64(len(b)) + (m-float64(moved/2))/m) / 3
}

// The beginning that raises a similarity of Jaro and Winkler: its most characters, what each counts, and the least
// similarity that is raised.
const (
	mostPrefix   = 4
	prefixWeight = 0.1
	leastRaised  = 0.7
)

func jaroWinkler(a, b []rune) float64 {
	similarity := jaro(a, b)
	if similarity <= leastRaised {
		return similarity
	}
	prefix := 0
	for prefix < min(len(a), len(b), mostPrefix) && a[prefix] == b[prefix] {
		prefix++
	}
	return similarity + float64(prefix)*prefixWeight*(1-similarity)
}

func jaccard(a, b []rune) float64 {
	const inA, inB = 1, 2
	sets := make(map[rune]int, min(len(a)+len(b), utf8.RuneSelf))
	for _, r := range a {
		sets[r] |= inA
	}
	for _, r := range b {
		sets[r] |= inB
	}
	common := 0
	for _, in := range sets {
		if in == inA|inB {
			common++
		}
	}
	if len(sets) == 0 {
		return 1
	}
	return float64(common) / float64(len(sets))
}
