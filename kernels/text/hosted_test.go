package text_test

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"
	"github.com/zeebo/xxh3"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/gpuframe/gpuframe/internal/testing/regextest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/text"
	"github.com/gpuframe/gpuframe/memory"
)

// valueOf is a value of an array as Go has it, nil for null.
func valueOf(a arrow.Array, row int) any {
	if a.IsNull(row) {
		return nil
	}
	switch a := a.(type) {
	case *array.List:
		begin, end := a.ValueOffsets(row)
		list := []any{}
		for i := begin; i < end; i++ {
			list = append(list, valueOf(a.ListValues(), int(i)))
		}
		return list
	case *array.Binary:
		return string(a.Value(row))
	case interface{ Value(int) string }:
		return a.Value(row)
	case *array.Uint64:
		return a.Value(row)
	case *array.Uint32:
		return a.Value(row)
	case *array.Int64:
		return a.Value(row)
	case *array.Float64:
		return a.Value(row)
	case *array.Boolean:
		return a.Value(row)
	}
	return a.ValueStr(row)
}

func listOf(texts []string) any {
	list := []any{}
	for _, t := range texts {
		list = append(list, t)
	}
	return list
}

// TestHosted compares the functions that the host computes with Go's libraries.
func TestHosted(t *testing.T) {
	in := expr.Col("text")
	pattern := regexp.MustCompile(`[a-m]+(\d)?`)
	functions := map[string]struct {
		e     expr.Expr
		model func(text string) any
	}{
		"NFD":  {text.Normalize(in, "NFD"), func(s string) any { return norm.NFD.String(s) }},
		"NFKC": {text.Normalize(in, "NFKC"), func(s string) any { return norm.NFKC.String(s) }},
		"fold": {text.FoldCase(in), func(s string) any { return cases.Fold().String(s) }},
		"translate": {text.Translate(in, "abé", "XY"), func(s string) any {
			return strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(s, "a", "X"), "b", "Y"), "é", "")
		}},
		"md5":    {text.MD5(in), func(s string) any { return fmt.Sprintf("%x", md5.Sum([]byte(s))) }},
		"sha1":   {text.SHA1(in), func(s string) any { return fmt.Sprintf("%x", sha1.Sum([]byte(s))) }},
		"sha256": {text.SHA256(in), func(s string) any { return fmt.Sprintf("%x", sha256.Sum256([]byte(s))) }},
		"xxh3":   {text.XXH3(in), func(s string) any { return xxh3.HashString(s) }},
		"all": {text.ExtractAll(in, pattern.String(), 0), func(s string) any {
			return listOf(pattern.FindAllString(s, -1))
		}},
		"groups": {text.ExtractAll(in, pattern.String(), 1), func(s string) any {
			list := []any{}
			for _, m := range pattern.FindAllStringSubmatchIndex(s, -1) {
				if m[2] < 0 {
					list = append(list, nil)
				} else {
					list = append(list, s[m[2]:m[3]])
				}
			}
			return list
		}},
		"split": {text.SplitRegex(in, pattern.String()), func(s string) any { return listOf(pattern.Split(s, -1)) }},
		"words": {text.Words(in), func(s string) any {
			return listOf(strings.FieldsFunc(s, func(r rune) bool { return !unicode.In(r, unicode.L, unicode.M, unicode.Nd) }))
		}},
		"find":   {text.FindText(expr.Lit("abcdé"), in), func(s string) any { return int64(strings.Index("abcdé", s) + 1) }},
		"prefix": {text.HasPrefix(expr.Lit("abcdé"), in), func(s string) any { return strings.HasPrefix("abcdé", s) }},
		"suffix": {text.HasSuffix(expr.Lit("abcdé"), in), func(s string) any { return strings.HasSuffix("abcdé", s) }},
		"has":    {text.Contains(expr.Lit("abcdé"), in), func(s string) any { return strings.Contains("abcdé", s) }},
		"printf": {text.Printf("%6s|%-4d|%.2f%%", in, in.LengthBytes(), in.LengthBytes().Cast(arrow.PrimitiveTypes.Float64)), func(s string) any { return fmt.Sprintf("%6s|%-4d|%.2f%%", s, len(s), float64(len(s))) }},
		"format": {text.Format("{{{}}} {:03d}", in, in.LengthBytes()), func(s string) any { return fmt.Sprintf("{%s} %03d", s, len(s)) }},
	}
	ofText := map[string]bool{"NFD": true, "NFKC": true, "fold": true, "words": true, "printf": true, "format": true}
	draw := func(r *rand.Rand) string { return regextest.Text(r, 6) }
	eachSample(t, []int{75}, draw, func(t *testing.T, _ *memory.Manager, s sample) {
		for name, f := range functions {
			if ofText[name] && s.column.Type().ID() == arrow.BINARY {
				continue // refused
			}
			got := evaluate(t, s.column, f.e)
			for i := range s.rows {
				want := f.model(s.texts[i])
				if s.null[i] {
					want = nil
				}
				require.Equal(t, want, valueOf(got, i), "%s of %q", name, s.texts[i])
			}
			got.Release()
		}
	})
}

// TestMurmur3 has the values of the author's code.
func TestMurmur3(t *testing.T) {
	texts := []string{"", "a", "abc", "test", "Hello, world!", "The quick brown fox jumps over the lazy dog"}
	want := map[int][]uint32{0: {0, 0x3c2569b2, 0xb3dd93fa, 0xba6bd213, 0xc0363e43, 0x2e4ff723}, -0x68b84d74: {0xebb6c228, 0x7fa09ea6, 0xc84a62dd, 0x704b81dc, 0x24884cba, 0x2fa826cd}}
	next := 0
	draw := func(*rand.Rand) string {
		next++
		return texts[next%len(texts)]
	}
	numbers := map[string]int{}
	for i, s := range texts {
		numbers[s] = i
	}
	eachSample(t, []int{20}, draw, func(t *testing.T, _ *memory.Manager, s sample) {
		for seed, hashes := range want {
			got := evaluate(t, s.column, text.Murmur3(expr.Col("text"), seed))
			for i := range s.rows {
				require.Equal(t, hashes[numbers[s.texts[i]]], valueOf(got, i), s.texts[i])
			}
			got.Release()
		}
	})
}

// TestSimilarities has the values that the papers and other libraries give.
func TestSimilarities(t *testing.T) {
	want := []struct {
		text                string
		jaro, winkler, jacc float64
	}{
		{"MARTHA", 1, 1, 1}, {"MARHTA", 17.0 / 18, 0.9611111, 1}, {"", 0, 0, 0}, {"XYZ", 0, 0, 0}, {"MART", 0.8888889, 0.9333333, 0.8},
	}
	next := 0
	draw := func(*rand.Rand) string {
		next++
		return want[next%len(want)].text
	}
	eachSample(t, []int{20}, draw, func(t *testing.T, _ *memory.Manager, s sample) {
		a, b := expr.Col("text"), expr.Lit("MARTHA")
		jaro, winkler, jaccard := evaluate(t, s.column, text.JaroSimilarity(a, b)), evaluate(t, s.column, text.JaroWinklerSimilarity(a, b)), evaluate(t, s.column, text.JaccardSimilarity(a, b))
		for i := range s.rows {
			for _, w := range want {
				if w.text == s.texts[i] {
					require.InDelta(t, w.jaro, valueOf(jaro, i), 1e-6, w.text)
					require.InDelta(t, w.winkler, valueOf(winkler, i), 1e-6, w.text)
					require.InDelta(t, w.jacc, valueOf(jaccard, i), 1e-6, w.text)
				}
			}
		}
		for _, a := range []arrow.Array{jaro, winkler, jaccard} {
			a.Release()
		}
	})
}

// Of strings of one character the equal ones are similar.
func TestSimilarityOfCharacters(t *testing.T) {
	draw := func(r *rand.Rand) string { return []string{"a", "é"}[r.IntN(2)] }
	eachSample(t, []int{20}, draw, func(t *testing.T, _ *memory.Manager, s sample) {
		for _, similarity := range []func(a, b expr.Expr) expr.Expr{text.JaroSimilarity, text.JaroWinklerSimilarity} {
			same, other := evaluate(t, s.column, similarity(expr.Col("text"), expr.Col("text"))), evaluate(t, s.column, similarity(expr.Col("text"), expr.Lit("b")))
			for i := range s.rows {
				require.EqualValues(t, 1, valueOf(same, i))
				require.EqualValues(t, 0, valueOf(other, i))
			}
			same.Release()
			other.Release()
		}
	})
}

// TestSubstringAt compares parts at computed places with those at literal ones.
func TestSubstringAt(t *testing.T) {
	draw := func(r *rand.Rand) string { return regextest.Text(r, 6) }
	in := expr.Col("text")
	length := in.LengthBytes()
	eachSample(t, []int{75}, draw, func(t *testing.T, _ *memory.Manager, s sample) {
		for _, start := range []int{-9, -2, -1, 0, 1, 3, 9} {
			for _, n := range []int{0, 1, 2, 50} {
				zero := length.Sub(length) // of the rows, so that neither is a literal
				got := evaluate(t, s.column, in.SubstringAt(zero.Add(expr.Lit(start)), zero.Add(expr.Lit(n))))
				want := evaluate(t, s.column, in.Substring(start, n))
				require.Equal(t, want.String(), got.String(), "from %d, %d characters", start, n)
				got.Release()
				want.Release()
			}
		}
	})
}

// TestJSON compares values at paths with those that encoding/json finds.
func TestJSON(t *testing.T) {
	documents := []string{
		`{"a": {"b": [1, 2.50, "x\ny", null, true, {"c" : [ ]}]}, "d e": "\u00e9", "f": []}`, `[1, [2, 3], {"a": "b,}]"}]`, `"text"`, `12`, ` null `, `{`, ``, `{"a":{"b":[]}}`, `{ }`,
	}
	paths := []struct {
		path  string
		steps []any
	}{
		{"$", nil}, {"$.a", []any{"a"}}, {"$.a.b[2]", []any{"a", "b", 2}}, {"$.a.b[-1].c", []any{"a", "b", -1, "c"}}, {`$."d e"`, []any{"d e"}}, {"d e", []any{"d e"}}, {"$[1]", []any{1}}, {"$[2].a", []any{2, "a"}},
		{"$.f", []any{"f"}}, {"$.a.b[3]", []any{"a", "b", 3}}, {"$.a.b[4]", []any{"a", "b", 4}}, {"$.a.b[1]", []any{"a", "b", 1}},
	}
	next := 0
	draw := func(*rand.Rand) string {
		next++
		return documents[next%len(documents)]
	}
	eachSample(t, []int{40}, draw, func(t *testing.T, _ *memory.Manager, s sample) {
		if s.column.Type().ID() == arrow.BINARY {
			return // refused
		}
		for _, p := range paths {
			in := expr.Col("text")
			whole, plain, keys, elements, kind := evaluate(t, s.column, text.JSONGet(in, p.path)), evaluate(t, s.column, text.JSONText(in, p.path)),
				evaluate(t, s.column, text.JSONKeys(in, p.path)), evaluate(t, s.column, text.JSONElements(in, p.path)), evaluate(t, s.column, text.JSONType(in, p.path))
			for i := range s.rows {
				value, ok := jsonAt(s.texts[i], p.steps)
				if !ok {
					for _, a := range []arrow.Array{whole, plain, keys, elements, kind} {
						require.Nil(t, valueOf(a, i), "%s of %q", p.path, s.texts[i])
					}
					continue
				}
				require.Equal(t, value, decoded(t, valueOf(whole, i)), "%s of %q", p.path, s.texts[i])
				if text, isText := value.(string); isText {
					require.Equal(t, text, valueOf(plain, i))
				} else if value == nil {
					require.Nil(t, valueOf(plain, i))
				}
				members, isObject := value.(map[string]any)
				list, isList := value.([]any)
				require.Equal(t, isObject, valueOf(keys, i) != nil)
				require.Equal(t, isList, valueOf(elements, i) != nil)
				require.Equal(t, map[bool]string{true: "object", false: fmt.Sprint(valueOf(kind, i))}[isObject], valueOf(kind, i))
				if isObject {
					require.Len(t, valueOf(keys, i), len(members))
				}
				if isList {
					require.Len(t, valueOf(elements, i), len(list))
					for k, element := range valueOf(elements, i).([]any) {
						require.Equal(t, list[k], decoded(t, element))
					}
				}
			}
			for _, a := range []arrow.Array{whole, plain, keys, elements, kind} {
				a.Release()
			}
		}
	})
}

func decoded(t *testing.T, text any) (value any) {
	require.NoError(t, json.Unmarshal([]byte(text.(string)), &value))
	return value
}

// jsonAt is the value at a path of a document.
func jsonAt(document string, steps []any) (value any, ok bool) {
	if json.Unmarshal([]byte(document), &value) != nil {
		return nil, false
	}
	for _, step := range steps {
		switch at := step.(type) {
		case string:
			members, _ := value.(map[string]any)
			if value, ok = members[at]; !ok {
				return nil, false
			}
		case int:
			list, _ := value.([]any)
			if at < 0 {
				at += len(list)
			}
			if at < 0 || at >= len(list) {
				return nil, false
			}
			value = list[at]
		}
	}
	return value, true
}
