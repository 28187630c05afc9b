package text_test

import (
	"encoding/base64"
	"encoding/hex"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/testing/regextest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/text"
	"github.com/gpuframe/gpuframe/memory"
)

// TestCodes compares codes of bytes with packages hex and base64.
func TestCodes(t *testing.T) {
	draw := func(r *rand.Rand) string {
		made := regextest.Text(r, 5)
		switch r.IntN(6) {
		case 0:
			made = hex.EncodeToString([]byte(made))
		case 1:
			made = strings.ToUpper(hex.EncodeToString([]byte(made)))
		case 2, 3:
			made = base64.StdEncoding.EncodeToString([]byte(made))
		case 4:
			made = strings.Repeat("=", r.IntN(3)) + base64.StdEncoding.EncodeToString([]byte(made)) + strings.Repeat("=", r.IntN(3))
		}
		if made != "" && r.IntN(6) == 0 {
			at := r.IntN(len(made))
			made = made[:at] + string("=g/+\n0Az"[r.IntN(8)]) + made[at+r.IntN(2):]
		}
		return made
	}
	codes := map[string]struct {
		of    func(expr.Expr) expr.Expr
		model func(string) (string, bool)
	}{
		"hex":    {text.Hex, func(s string) (string, bool) { return hex.EncodeToString([]byte(s)), true }},
		"base64": {text.Base64, func(s string) (string, bool) { return base64.StdEncoding.EncodeToString([]byte(s)), true }},
		"unhex": {text.Unhex, func(s string) (string, bool) {
			made, err := hex.DecodeString(s)
			return string(made), err == nil
		}},
		"unbase64": {text.Unbase64, func(s string) (string, bool) {
			made, err := base64.StdEncoding.DecodeString(s)
			return string(made), err == nil && !strings.ContainsAny(s, "\r\n")
		}},
	}
	eachSample(t, []int{75, 600}, draw, func(t *testing.T, _ *memory.Manager, s sample) {
		for name, code := range codes {
			got := evaluate(t, s.column, code.of(expr.Col("text")))
			for i := range s.rows {
				want, ok := code.model(s.texts[i])
				ok = ok && !s.null[i]
				require.Equal(t, ok, got.IsValid(i), "%s of %q", name, s.texts[i])
				if b, is := got.(interface{ Value(int) []byte }); ok && is {
					require.Equal(t, want, string(b.Value(i)), "%s of %q", name, s.texts[i])
				} else if ok {
					require.Equal(t, want, got.ValueStr(i), "%s of %q", name, s.texts[i])
				}
			}
			got.Release()
		}
	})
}

// recursive is the distance by its definition, with remembered results.
func recursive(a, b string) int {
	type pair struct{ a, b string }
	known := map[pair]int{}
	var of func(a, b string) int
	of = func(a, b string) (n int) {
		if a == "" || b == "" {
			count := 0
			for rest := a + b; rest != ""; count++ {
				_, width := utf8.DecodeRuneInString(rest)
				rest = rest[width:]
			}
			return count
		}
		if n, ok := known[pair{a, b}]; ok {
			return n
		}
		_, i := utf8.DecodeRuneInString(a)
		_, k := utf8.DecodeRuneInString(b)
		if a[:i] == b[:k] {
			n = of(a[i:], b[k:])
		} else {
			n = 1 + min(of(a[i:], b), of(a, b[k:]), of(a[i:], b[k:]))
		}
		known[pair{a, b}] = n
		return n
	}
	return of(a, b)
}

// TestEditDistance compares distances to a literal and to another string with the definition.
func TestEditDistance(t *testing.T) {
	draw := func(r *rand.Rand) string { return regextest.Text(r, 12) }
	eachSample(t, []int{75}, draw, func(t *testing.T, _ *memory.Manager, s sample) {
		in := expr.Col("text")
		for with, other := range map[string]expr.Expr{"": in.Reverse(), "abé€b": expr.Lit("abé€b")} {
			got := evaluate(t, s.column, text.EditDistance(in, other)).(*array.Int64)
			for i := range s.rows {
				require.Equal(t, s.null[i], got.IsNull(i))
				to := with
				if to == "" {
					to = reversed(s.texts[i])
				}
				if !s.null[i] {
					require.Equal(t, int64(recursive(s.texts[i], to)), got.Value(i), "%q to %q", s.texts[i], to)
				}
			}
			got.Release()
		}
	})
	lengths := []int{0, 255, 256, 257, 300}
	number := 0
	eachSample(t, []int{20}, func(*rand.Rand) string {
		number++
		return strings.Repeat("x", lengths[number%len(lengths)])
	}, func(t *testing.T, _ *memory.Manager, s sample) {
		got := evaluate(t, s.column, text.EditDistance(expr.Col("text"), expr.Lit(strings.Repeat("y", 300)))).(*array.Int64)
		for i := range s.rows {
			require.Equal(t, len(s.texts[i]) <= 256, got.IsValid(i))
			if got.IsValid(i) {
				require.Equal(t, int64(300), got.Value(i))
			}
		}
		got.Release()
	})
}
