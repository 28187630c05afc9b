package text_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/regextest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/text"
	"github.com/gpuframe/gpuframe/memory"
)

// sample is a column of random texts.
type sample struct {
	column *column.Column
	texts  []string
	null   []bool
	rows   int
}

// eachSample runs a test on random texts of each type, as slices, with and without nulls,
// and with row counts on the device.
func eachSample(t *testing.T, lengths []int, draw func(r *rand.Rand) string, run func(t *testing.T, mgr *memory.Manager, s sample)) {
	dictionary := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		r := rand.New(rand.NewPCG(11, 12))
		for _, of := range []arrow.DataType{arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString, arrow.BinaryTypes.Binary, dictionary} {
			for _, rows := range lengths {
				if of.ID() == arrow.DICTIONARY && rows > 100 {
					continue // more values than indices of int8
				}
				b := array.NewBuilder(arrowmemory.DefaultAllocator, of)
				texts, null := make([]string, rows), make([]bool, rows)
				for i := range texts {
					if null[i] = rows%2 == 1 && r.IntN(5) == 0; null[i] {
						b.AppendNull()
						continue
					}
					texts[i] = draw(r)
					switch b := b.(type) {
					case *array.BinaryBuilder:
						b.Append([]byte(texts[i]))
					case *array.StringBuilder:
						b.Append(texts[i])
					case *array.LargeStringBuilder:
						b.Append(texts[i])
					case *array.BinaryDictionaryBuilder:
						require.NoError(t, b.AppendString(texts[i]))
					}
				}
				whole := b.NewArray()
				b.Release()
				first := min(rows, 3)
				c, _ := columntest.UploadRows(t, mgr, whole, first, rows)
				whole.Release()
				s := sample{c, texts[first:], null[first:], rows - first}
				run(t, mgr, s)
				s.rows = s.rows * 2 / 3
				s.column = columntest.WithRows(t, mgr, c, int64(s.rows))
				run(t, mgr, s)
			}
		}
	})
}

// evaluate returns the values of an expression of the column "text".
func evaluate(t *testing.T, c *column.Column, e expr.Expr) arrow.Array {
	t.Helper()
	table, err := buffer.New(arrow.NewSchema([]arrow.Field{{Name: "text", Type: c.Type(), Nullable: true}}, nil), []*column.Column{c},
		buffer.Rows{Count: int64(c.Len()), Shared: c.RowCount()})
	require.NoError(t, err)
	made, err := expr.Evaluate(context.Background(), table, []expr.Expr{e})
	require.NoError(t, errors.Join(err, table.Release()))
	require.Equal(t, c.RowCount() != nil, made[0].RowCount() != nil)
	got := columntest.Download(t, made[0])
	require.NoError(t, made[0].Release())
	return got
}

// patterns are those that matter, and random ones.
func patterns(random int) []string {
	list := []string{`[a-z]+@[a-z]+\.(com|org)`, `a`, ``, `^`, `$`, `(?m)^(b*)$`, `(a+)(b+)?|é`, `(?P<name>\w)[^a]\b`, `[^\x00-\x7f]`}
	r := rand.New(rand.NewPCG(3, 1))
	for range random {
		if pattern := regextest.Pattern(r); len(pattern) > 0 {
			list = append(list, pattern)
		}
	}
	return list
}

var replacements = []string{"", "x", "<$0>", "[${1}|$2]$$", "é$9${name}-"}

// TestRegularExpressions compares all searches with package regexp.
func TestRegularExpressions(t *testing.T) {
	lengths, random := []int{0, 1, 75, 300}, 20
	if testing.Short() {
		lengths, random = []int{0, 1, 75}, 3
	}
	list := patterns(random)
	draw := func(r *rand.Rand) string { return regextest.Text(r, 9) }
	eachSample(t, lengths, draw, func(t *testing.T, _ *memory.Manager, s sample) {
		for k, pattern := range list {
			oracle := regexp.MustCompile(pattern)
			group := oracle.NumSubexp() / 2
			with := replacements[k%len(replacements)]
			in := expr.Col("text")
			got := map[string]arrow.Array{}
			for name, e := range map[string]expr.Expr{
				"matches": text.Matches(in, pattern), "find": text.Find(in, pattern), "count": text.Count(in, pattern),
				"extract": text.Extract(in, pattern, group), "replace": text.Replace(in, pattern, with),
			} {
				got[name] = evaluate(t, s.column, e)
				require.Equal(t, s.rows, got[name].Len(), name)
			}
			for i := range s.rows {
				word, begin := s.texts[i], 0
				where := fmt.Sprintf("%q in %q, row %d of %d", pattern, word, i, s.rows)
				if s.null[i] {
					for name, values := range got {
						require.True(t, values.IsNull(i), "%s: %s", name, where)
					}
					continue
				}
				match := oracle.FindStringSubmatchIndex(word)
				if match != nil {
					begin = 1
					for _, c := range []byte(word[:match[0]]) {
						if c&0xc0 != 0x80 {
							begin++
						}
					}
				}
				require.Equal(t, match != nil, got["matches"].(*array.Boolean).Value(i), where)
				require.EqualValues(t, begin, got["find"].(*array.Int64).Value(i), where)
				require.EqualValues(t, len(oracle.FindAllStringIndex(word, -1)), got["count"].(*array.Int64).Value(i), where)
				require.Equal(t, oracle.ReplaceAllString(word, with), bytesOf(got["replace"], i), "%q: %s", with, where)
				found := match != nil && match[2*group] >= 0
				require.Equal(t, found, got["extract"].IsValid(i), where)
				if found {
					require.Equal(t, word[match[2*group]:match[2*group+1]], bytesOf(got["extract"], i), where)
				}
			}
			for _, values := range got {
				values.Release()
			}
		}
	})
}

// TestReplaceByManyGroups has more groups than a word has bits.
func TestReplaceByManyGroups(t *testing.T) {
	const pattern, with = `^(.)(.)(.)(.)(.)(.)(.)(.)(.*)(.)`, "<$10 $9 $8 $7 $6 $5 $4 $3 $2 $1>"
	oracle := regexp.MustCompile(pattern)
	draw := func(r *rand.Rand) string { return regextest.Text(r, 12) }
	eachSample(t, []int{75}, draw, func(t *testing.T, _ *memory.Manager, s sample) {
		got := evaluate(t, s.column, text.Replace(expr.Col("text"), pattern, with))
		defer got.Release()
		for i := range s.rows {
			if !s.null[i] {
				require.Equal(t, oracle.ReplaceAllString(s.texts[i], with), bytesOf(got, i), s.texts[i])
			}
		}
	})
}

// bytesOf returns a string or a binary.
func bytesOf(a arrow.Array, i int) string {
	if b, ok := a.(*array.Binary); ok {
		return string(b.Value(i))
	}
	return a.ValueStr(i)
}

// TestLargeAutomaton has one that does not fit the memory of a block.
func TestLargeAutomaton(t *testing.T) {
	const pattern = `(?i)\b(\w|é)*a\w{9}x`
	oracle := regexp.MustCompile(pattern)
	draw := func(r *rand.Rand) string {
		return regextest.Text(r, 4) + "baabbaabab"[:7+r.IntN(4)] + "bbaX"[r.IntN(4):]
	}
	eachSample(t, []int{75}, draw, func(t *testing.T, _ *memory.Manager, s sample) {
		got := evaluate(t, s.column, text.Matches(expr.Col("text"), pattern))
		defer got.Release()
		for i := range s.rows {
			if !s.null[i] {
				require.Equal(t, oracle.MatchString(s.texts[i]), got.(*array.Boolean).Value(i), s.texts[i])
			}
		}
	})
}

func TestPatternErrors(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "text", Type: arrow.BinaryTypes.String}, {Name: "n", Type: arrow.PrimitiveTypes.Int8}}, nil)
	in := expr.Col("text")
	_, _, err := text.Matches(in, `ab(?=c)`).Type(schema)
	var refused *text.PatternError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, 2, refused.Position)
	large := text.Find(in, `[a-z]{500}`)
	_, _, err = large.Type(schema)
	require.NoError(t, err) // it is not compiled yet
	require.ErrorIs(t, expr.Prepare(t.Context(), in, large.Not()), text.ErrPatternTooLarge)
	ended, end := context.WithCancel(t.Context())
	end()
	require.ErrorIs(t, expr.Prepare(ended, text.Find(in, `[a-z]+a{9}`)), context.Canceled)
	_, _, err = text.Extract(in, `(a)b`, 2).Type(schema)
	require.ErrorIs(t, err, expr.ErrLiteral)
	require.ErrorContains(t, err, `group 2 of the pattern "(a)b", expected 0 to 1`)
	_, _, err = text.Replace(expr.Col("n"), `a`, `b`).Type(schema)
	require.ErrorIs(t, err, expr.ErrType)
}

// TestNamesOfSearches: searches with different results have different names, so that one
// query can have several without names of its user.
func TestNamesOfSearches(t *testing.T) {
	x := expr.Col("x")
	names := map[string]bool{}
	for _, e := range []expr.Expr{
		text.Matches(x, "(a)(b)"), text.Find(x, "(a)(b)"), text.Count(x, "(a)(b)"), text.Extract(x, "(a)(b)", 0), text.Extract(x, "(a)(b)", 1),
		text.Extract(x, "(a)(c)", 1), text.Replace(x, "(a)(b)", "$1"), text.Replace(x, "(a)(b)", "$2"),
	} {
		require.False(t, names[e.Name()], e.Name())
		names[e.Name()] = true
	}
}
