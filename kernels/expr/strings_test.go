package expr_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/exprtest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/memory"
)

// randomText returns a string of a few letters that often match, and white space. With
// invalid set it may contain any bytes.
func randomText(r *rand.Rand, most int, invalid bool) string {
	var s strings.Builder
	for range r.IntN(most + 1) {
		if invalid && r.IntN(5) == 0 {
			s.WriteByte(byte(r.Uint32()))
			continue
		}
		s.WriteString([]string{"a", "b", "a", "b", "c", "ä", "€", "𝄞", " ", "\u00a0", "\u3000", "\x00"}[r.IntN(12)])
	}
	return s.String()
}

var textTypes = []arrow.DataType{
	arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString, arrow.BinaryTypes.Binary,
	&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int16, ValueType: arrow.BinaryTypes.String},
}

// textArray makes an array of a type, with nulls where a string is "null". Values come
// after an offset.
func textArray(t testing.TB, dataType arrow.DataType, values []string) arrow.Array {
	builder := array.NewBuilder(arrowmemory.DefaultAllocator, dataType)
	defer builder.Release()
	add := func(value string) {
		switch b := builder.(type) {
		case *array.StringBuilder:
			b.Append(value)
		case *array.LargeStringBuilder:
			b.Append(value)
		case *array.BinaryBuilder:
			b.Append([]byte(value))
		case *array.BinaryDictionaryBuilder:
			require.NoError(t, b.AppendString(value))
		}
	}
	for range 3 {
		add("before")
	}
	for _, value := range values {
		if value == "null" {
			builder.AppendNull()
		} else {
			add(value)
		}
	}
	whole := builder.NewArray()
	defer whole.Release()
	return array.NewSlice(whole, 3, int64(whole.Len()))
}

// likeRegexp returns the regular expression of a pattern with the escape character !.
func likeRegexp(pattern string) *regexp.Regexp {
	var s strings.Builder
	escaped := false
	for _, r := range pattern {
		switch {
		case !escaped && r == '!':
			escaped = true
			continue
		case !escaped && r == '%':
			s.WriteString(".*")
		case !escaped && r == '_':
			s.WriteString(".")
		default:
			s.WriteString(regexp.QuoteMeta(string(r)))
		}
		escaped = false
	}
	return regexp.MustCompile("(?s)^" + s.String() + "$")
}

// TestStringsAreGos compares the operations on strings with package strings, of every
// layout, with nulls and offsets.
func TestStringsAreGos(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		rounds := 12
		if testing.Short() {
			rounds = 4
		}
		for round := range rounds {
			r := rand.New(rand.NewPCG(uint64(round), 5))
			values := make([]string, 150)
			for i := range values {
				if values[i] = randomText(r, []int{6, 40}[i%2], false); i%11 == 0 {
					values[i] = "null"
				}
			}
			wanted := randomText(r, []int{1, 3, 9}[round%3], false)
			if long := values[1]; round%4 == 3 && long != "null" {
				wanted = long[len(long)/4:]
				wanted = strings.ToValidUTF8(wanted, "")
			}
			pattern := ""
			for range r.IntN(7) {
				pattern += []string{"%", "_", "a", "b", "ä", "%", "!%", "c", "a%b"}[r.IntN(9)]
			}
			like := likeRegexp(pattern)
			start, length := r.IntN(9)-3, r.IntN(6)
			cases := []struct {
				e    expr.Expr
				want func(string) any
			}{
				{a.Contains(expr.Lit(wanted)), func(s string) any { return strings.Contains(s, wanted) }},
				{a.HasPrefix(expr.Lit(wanted)), func(s string) any { return strings.HasPrefix(s, wanted) }},
				{a.Find(expr.Lit(wanted)), func(s string) any {
					before, _, found := strings.Cut(s, wanted)
					if !found {
						return int64(0)
					}
					return int64(utf8.RuneCountInString(before) + 1)
				}},
				{a.Like(pattern, '!'), func(s string) any { return like.MatchString(s) }},
				{a.LengthBytes(), func(s string) any { return int64(len(s)) }},
				{a.LengthChars(), func(s string) any { return int64(utf8.RuneCountInString(s)) }},
				{a.Lt(expr.Lit(wanted)), func(s string) any { return s < wanted }},
				{a.Trim().Eq(expr.Lit(strings.TrimSpace(wanted))), func(s string) any { return strings.TrimSpace(s) == strings.TrimSpace(wanted) }},
				{a.Trim().LengthBytes(), func(s string) any { return int64(len(strings.TrimSpace(s))) }},
				{a.TrimStart().Trim().Eq(a.TrimEnd().Trim()), func(s string) any { return true }},
				{a.Substring(start, length).LengthBytes(), func(s string) any { return int64(len(substring(s, start, length))) }},
				{a.Substring(start, length).In([]string{"a", "ab", "", wanted}), func(s string) any {
					return slices.Contains([]string{"a", "ab", "", wanted}, substring(s, start, length))
				}},
			}
			table := tableOf(t, mgr, textArray(t, textTypes[round%len(textTypes)], values))
			for _, c := range cases {
				got, err := expr.Evaluate(ctx, table, []expr.Expr{c.e})
				require.NoError(t, err, "%v", c.e)
				cells := arrayOf(t, got[0])
				for i, value := range values {
					var want any
					if value != "null" {
						want = c.want(value)
					}
					require.Equal(t, want, exprtest.Cell(cells, i), "%v of %q", c.e, value)
				}
				cells.Release()
				require.NoError(t, got[0].Release())
			}
		}
	})
}

// substring counts characters from 1, and from the end for a negative start.
func substring(s string, start, length int) string {
	runes := []rune(s)
	var kept []rune
	for i := range runes {
		number := i + 1
		if start < 0 {
			number = i - len(runes)
		}
		if number >= start && number < start+length {
			kept = append(kept, runes[i])
		}
	}
	return string(kept)
}

// TestIn compares with a search in the list, for few and for many values.
func TestIn(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		day := func(n int) time.Time { return time.Unix(0, 0).UTC().AddDate(0, 0, n) }
		numbers := fromJSON(t, i32, "[1, -1, null, 7, 200, 399, 2147483647]")
		table := tableOf(t, mgr, numbers, fromJSON(t, f64, "[0.0, 1.5, 2, null, 1e300, -0.0, 7]"), fromJSON(t, date32, "[0, 1, 2, null, 4, 5, 6]"),
			fromJSON(t, boolean, "[true, false, null, true, false, true, false]"), fromJSON(t, decimal(5, 2), `["1.00", "2.50", null, "3", "4", "5", "6"]`),
			fromJSON(t, text, `["x", "y", null, "", "xy", "z", "longer than eight"]`))
		days, d, e, f := expr.Col("c"), expr.Col("d"), expr.Col("e"), expr.Col("f")
		many := make([]int, 300)
		for i := range many {
			many[i] = 2*i - 1
		}
		for _, c := range []struct {
			want string
			in   expr.Expr
		}{
			{"[true false (null) true false false false]", a.In(1, 7)},
			{"[true true (null) true false true false]", a.In(many)},
			{"[false false (null) false false false true]", a.In(int64(1<<31-1), int64(1<<40), 2.5)},
			{"[true (null) (null) (null) (null) (null) (null)]", a.In(1, nil)},
			{"[false false (null) false false false false]", a.In()},
			{"[true true (null) true (null) true (null)]", a.In(1, -1, 7, 399, expr.Null(i32))},
			{"[true false false (null) false true true]", b.In(0, 7, 1.25)},
			{"[false true true (null) true true false]", days.In(day(1), day(2), day(4), day(5), day(6).Add(time.Second))},
			{"[false true (null) false true false true]", d.In(false)},
			{"[true true (null) false false false false]", e.In(1, 2.5)},
			{"[true false (null) true false false true]", f.In("x", "", "longer than eight", "longer")},
			{"[true true (null) false false false false]", f.In("y", "x")},
			{"[true false (null) false false false false]", f.In([]byte("x"))},
			{"[true true (null) true true true true]", a.In(a, b)},
			{"[false true (null) (null) (null) (null) (null)]", expr.If(a.Eq(expr.Lit(1)), expr.Lit(false), f.In("y", nil))},
			{"[true true (null) true true true false]", f.LengthChars().In(0, 1, 2)},
			{"[true (null) (null) (null) (null) (null) (null)]", f.In(expr.Lit("x"), expr.Null(text))},
		} {
			got, err := expr.Evaluate(ctx, table, []expr.Expr{c.in})
			require.NoError(t, err)
			require.Equal(t, c.want, arrayOf(t, got[0]).String(), "%v", c.in)
			require.NoError(t, got[0].Release())
		}
		require.Equal(t, `in(f, "x", null of bool)`, fmt.Sprint(f.In("x", nil)))
	})
}
