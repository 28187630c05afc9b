package regex

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/internal/testing/regextest"
)

// check compares a program with package regexp.
func check(t *testing.T, pattern string, texts ...string) {
	t.Helper()
	oracle, err := regexp.Compile(pattern)
	if err != nil {
		return
	}
	groups := make([]int, min(oracle.NumSubexp(), 3))
	for i := range groups {
		groups[i] = oracle.NumSubexp() - i
	}
	matching, err := Compile(t.Context(), pattern, Options{})
	if errors.Is(err, ErrTooLarge) {
		return
	}
	require.NoError(t, err, pattern)
	program, err := Compile(t.Context(), pattern, Options{Positions: true, Groups: groups})
	if errors.Is(err, ErrTooLarge) {
		return
	}
	require.NoError(t, err, pattern)
	require.Equal(t, oracle.NumSubexp(), program.Groups())
	searcher := program.NewSearcher()
	for _, text := range texts {
		if want, got := oracle.MatchString(text), matching.Matches([]byte(text)); want != got {
			t.Fatalf("%q matches %q: %v, want %v", pattern, text, got, want)
		}
		want := oracle.FindStringSubmatchIndex(text)
		got := searcher.Search([]byte(text), 0)
		if got != (want != nil) {
			t.Fatalf("%q is found in %q: %v, want %v", pattern, text, got, want)
		}
		if got {
			compare(t, pattern, text, searcher.Match[:2], want[:2])
			for i, group := range groups {
				compare(t, pattern, text, searcher.Match[2+2*i:][:2], want[2*group:][:2])
			}
		}
		var all [][]int
		searcher.Each([]byte(text), func(match []uint32) { all = append(all, []int{int(match[0]), int(match[1])}) })
		if wanted := oracle.FindAllStringIndex(text, -1); !slices.EqualFunc(all, wanted, slices.Equal[[]int]) {
			t.Fatalf("all of %q in %q: %v, want %v", pattern, text, all, wanted)
		}
	}
}

func compare(t *testing.T, pattern, text string, got []uint32, want []int) {
	t.Helper()
	for i := range got {
		if got[i] != uint32(want[i]) { // -1 is None
			t.Fatalf("%q in %q: %d, want %d", pattern, text, got, want)
		}
	}
}

// TestRandom compares random patterns and texts with package regexp.
func TestRandom(t *testing.T) {
	patterns := 7000
	if testing.Short() {
		patterns = 200
	}
	r := rand.New(rand.NewPCG(7, 9+uint64(property.Turn(t)%3)))
	for range patterns {
		pattern := regextest.Pattern(r)
		texts := make([]string, 8)
		for i := range texts {
			texts[i] = regextest.Text(r, 12)
		}
		check(t, pattern, texts...)
	}
}

func FuzzPattern(f *testing.F) {
	f.Add(`[a-z]+@[a-z]+\.(com|org)`, "to: someone@example.org")
	f.Add(`(?i)(a|ab)(c|bcd)(d*)`, "xABCDx\xff")
	f.Add(`(?m)^(\w+)\b$|`, "one\ntwo three\n")
	f.Add(`(|a)*?b(\B.|$)`, "aab\xe2\x82b")
	f.Fuzz(func(t *testing.T, pattern, text string) {
		if len(pattern) < 60 && len(text) < 200 {
			check(t, pattern, text)
		}
	})
}

// TestPatterns has patterns that matter by themselves.
func TestPatterns(t *testing.T) {
	for _, pattern := range []string{`[a-z]+@[a-z]+\.(com|org)`, `(\d{4})-(\d{2})-(\d{2})`, `\b(\w+)\s+(\w+)\b`, `^\s*([^=]+?)\s*=\s*(.*)$`, `(a*)*(b|)`, `(?:(a)|b)*`} {
		check(t, pattern, "", "you@example.org, me@x.com", "on 2026-11-22 or 2026-1-1", "hello  big world", " key = some value ", "aabab", "bab")
	}
}

// TestErrors checks the positions in the messages, and the limits.
func TestErrors(t *testing.T) {
	for _, test := range []struct {
		pattern  string
		position int
	}{
		{`ab(?=c)`, 2}, {`a(b)\1`, 4}, {`a*b**`, 3}, {`x{2}y{2001}`, 5}, {`[a-z][z-a]`, 6}, {`ab)`, 0}, {`(?<!x)y`, 0}, {"a\xff", 1}, {`\d\y`, 2},
	} {
		_, err := Compile(t.Context(), test.pattern, Options{})
		var refused *Error
		require.ErrorAs(t, err, &refused, test.pattern)
		require.Equal(t, test.position, refused.Position, err.Error())
	}
	for _, pattern := range []string{`(a|b)*a(a|b){20}`} {
		_, err := Compile(t.Context(), pattern, Options{})
		require.ErrorIs(t, err, ErrTooLarge, pattern)
	}
	// Patterns are counted before they are compiled.
	for _, pattern := range []string{`(` + strings.Repeat(`\pL`, 400) + `){1000}`, `(` + strings.Repeat(`ab`, 40) + `){1000}`, strings.Repeat(`a`, 1<<16+1), strings.Repeat(`\pL{900}`, 4)} {
		parsed, err := syntax.Parse(pattern, syntax.Perl)
		require.NoError(t, err)
		require.ErrorIs(t, checkSize(parsed), ErrTooLarge)
		_, err = Compile(t.Context(), pattern, Options{})
		require.ErrorIs(t, err, ErrTooLarge)
	}
	_, err := Compile(t.Context(), `[a-z]{200}`, Options{Positions: true})
	require.ErrorIs(t, err, ErrTooLarge)
}

// endingContext is a context that ends when it has been looked at a number of times.
type endingContext struct {
	context.Context
	left int
}

func (c *endingContext) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestCompilationStopsWithItsContext ends the context at places where the compilation looks at it.
func TestCompilationStopsWithItsContext(t *testing.T) {
	const pattern = `(a|b|\pL)*a(a|b){6}`
	counted := &endingContext{t.Context(), math.MaxInt}
	_, err := Compile(counted, pattern, Options{})
	require.NoError(t, err)
	looks := math.MaxInt - counted.left
	require.Greater(t, looks, 100)
	for at := 0; at < looks; at += 1 + at/4 {
		_, err := Compile(&endingContext{t.Context(), at}, pattern, Options{})
		require.ErrorIs(t, err, context.Canceled, "after %d looks", at)
	}
}

// TestLongPatterns refuses patterns, and finds the places of their errors, in linear time.
func TestLongPatterns(t *testing.T) {
	_, err := Check(strings.Repeat("a|", mostBytes))
	require.ErrorIs(t, err, ErrTooLarge)
	literals := strings.Repeat("z-a", 20_000)
	_, err = Check(literals + "[z-a]")
	var refused *Error
	require.ErrorAs(t, err, &refused)
	require.Zero(t, refused.Position) // the first of many candidates
	replacer, err := NewReplacer(t.Context(), "(a)", strings.Repeat("$$", 1<<20)+"$1")
	require.NoError(t, err)
	require.Len(t, replacer.Parts, 2)
	require.Len(t, replacer.Parts[0].Literal, 1<<20)
}

// TestManyGroups replaces by more groups than registers have bits.
func TestManyGroups(t *testing.T) {
	for groups := 1; groups <= 40; groups++ {
		pattern, with := "^", ""
		for i := range groups {
			pattern, with = pattern+fmt.Sprintf("([%c-%c])", 'a'+i%26, 'a'+i%26+1), fmt.Sprintf("${%d}", i+1)+with
		}
		text := ""
		for i := range groups {
			text += string(rune('a' + i%26))
		}
		replacer, err := NewReplacer(t.Context(), pattern, with)
		if err != nil {
			require.ErrorIs(t, err, ErrTooLarge)
			continue
		}
		got := replacer.Program.NewSearcher().Replace(nil, []byte(text+"!"), replacer.Parts)
		require.Equal(t, regexp.MustCompile(pattern).ReplaceAllString(text+"!", with), string(got), "%d groups", groups)
	}
}

// TestTemplates compares expansions with those of package regexp.
func TestTemplates(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	pieces := []string{"$", "$1", "${1}", "$0", "x", "$name", "${name}y", "$$", "$1x", "${2", "$10", "é", "${name}", " ", "$é"}
	for _, pattern := range []string{`(a+)(?P<name>b)?`, `a*`, `(x)|b`, `c`, `^|b$`} {
		oracle := regexp.MustCompile(pattern)
		for range 200 {
			with := ""
			for range r.IntN(5) {
				with += pieces[r.IntN(len(pieces))]
			}
			replacer, err := NewReplacer(t.Context(), pattern, with)
			require.NoError(t, err)
			text := regextest.Text(r, 10)
			require.Equal(t, oracle.ReplaceAllString(text, with), string(replacer.Program.NewSearcher().Replace(nil, []byte(text), replacer.Parts)), "%q %q %q", pattern, text, with)
		}
	}
}
