package parse_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/sql/parse"
	"github.com/gpuframe/gpuframe/sql/tree"
)

// deep are texts that nest a form n times.
var deep = map[string]func(n int) string{
	"parentheses":        func(n int) string { return "select " + strings.Repeat("(", n) + "1" + strings.Repeat(")", n) },
	"open parentheses":   func(n int) string { return "select " + strings.Repeat("(", n) },
	"case":               func(n int) string { return "select " + strings.Repeat("case ", n) },
	"case when":          func(n int) string { return "select " + strings.Repeat("case when a then ", n) },
	"not":                func(n int) string { return "select " + strings.Repeat("not ", n) + "a" },
	"minus":              func(n int) string { return "select " + strings.Repeat("- ", n) + "a" },
	"tilde":              func(n int) string { return "select " + strings.Repeat("~ ", n) + "a" },
	"lists":              func(n int) string { return "select " + strings.Repeat("[", n) },
	"structs":            func(n int) string { return "select " + strings.Repeat("{a: ", n) },
	"maps":               func(n int) string { return "select " + strings.Repeat("map {1: ", n) },
	"calls":              func(n int) string { return "select " + strings.Repeat("f(", n) + "1" + strings.Repeat(")", n) },
	"subscripts":         func(n int) string { return "select " + strings.Repeat("a[", n) },
	"casts":              func(n int) string { return "select " + strings.Repeat("cast(", n) },
	"lambdas":            func(n int) string { return "select " + strings.Repeat("lambda x : ", n) + "x" },
	"selects":            func(n int) string { return strings.Repeat("select (", n) + "1" + strings.Repeat(")", n) },
	"subqueries":         func(n int) string { return strings.Repeat("select * from (", n) + "t" + strings.Repeat(")", n) },
	"queries":            func(n int) string { return strings.Repeat("(", n) + "select 1" + strings.Repeat(")", n) },
	"joins":              func(n int) string { return "from " + strings.Repeat("(a join ", n) },
	"joins to the right": func(n int) string { return "from " + strings.Repeat("a join ", n) },
	"with":               func(n int) string { return strings.Repeat("with a as (", n) },
	"unions to the right": func(n int) string {
		return strings.Repeat("select 1 union (", n) + "select 1" + strings.Repeat(")", n)
	},
	"types":    func(n int) string { return "select a::" + strings.Repeat("struct(a ", n) },
	"maps of":  func(n int) string { return "select a::" + strings.Repeat("map(int, ", n) },
	"explain":  func(n int) string { return strings.Repeat("explain ", n) + "select 1" },
	"sets":     func(n int) string { return "select a group by " + strings.Repeat("grouping sets (", n) },
	"tables":   func(n int) string { return "select * from " + strings.Repeat("(", n) + "t" },
	"exists":   func(n int) string { return "select " + strings.Repeat("exists (select ", n) },
	"in":       func(n int) string { return "select " + strings.Repeat("a in (", n) },
	"between":  func(n int) string { return "select " + strings.Repeat("a between ", n) },
	"power":    func(n int) string { return "select " + strings.Repeat("a ** - ", n) + "a" },
	"comments": func(n int) string { return "select " + strings.Repeat("/*", n) },
	"casts behind": func(n int) string {
		return "select a" + strings.Repeat("::int", n)
	},
	"brackets behind": func(n int) string { return "select a" + strings.Repeat("[1]", n) },
	"types behind":    func(n int) string { return "select a::int" + strings.Repeat("[]", n) },
	"fields":          func(n int) string { return "select (a)" + strings.Repeat(".b", n) },
	"methods":         func(n int) string { return "select f()" + strings.Repeat(".g()", n) },
	"sums":            func(n int) string { return "select a" + strings.Repeat(" + 1", n) },
	"arrows":          func(n int) string { return "select a" + strings.Repeat(" -> 1", n) },
	"is":              func(n int) string { return "select a" + strings.Repeat(" is null", n) },
	"ins":             func(n int) string { return "select a" + strings.Repeat(" in (1)", n) },
	"postfix":         func(n int) string { return "select a" + strings.Repeat(" ! is null", n) },
	"collations":      func(n int) string { return "select a" + strings.Repeat(" collate b", n) },
	"unions":          func(n int) string { return "select 1" + strings.Repeat(" union select 1", n) },
	"cross joins":     func(n int) string { return "from a" + strings.Repeat(" cross join b", n) },
	"pivots":          func(n int) string { return "from a" + strings.Repeat(" pivot (f(b) for c in (1))", n) },
}

// TestDeepTexts: texts that are too deep are errors, and no panics. Those within the limit are read.
func TestDeepTexts(t *testing.T) {
	for name, text := range deep {
		t.Run(name, func(t *testing.T) {
			_, err := parse.Statements(text(10000))
			var fault *parse.Error
			require.ErrorAs(t, err, &fault)
			require.Less(t, len(err.Error()), 1<<20)
			_, err = parse.Statements(text(300))
			if err != nil {
				require.NotContains(t, err.Error(), "nested deeper")
			}
		})
	}
}

// TestDepth: the depth of a tree is at most the limit, and the text of the deepest tree is read again.
func TestDepth(t *testing.T) {
	for name, text := range deep {
		least, most := 0, 4000 // accepted, refused
		for least+1 < most {
			n := (least + most) / 2
			if _, err := parse.Statements(text(n)); err != nil && strings.Contains(err.Error(), "nested deeper") {
				most = n
			} else {
				least = n
			}
		}
		statements, err := parse.Statements(text(least))
		if err != nil {
			continue // without an end
		}
		deepest := 0
		tree.Walk(statements[0], func(_ tree.Node, depth int) bool {
			deepest = max(deepest, depth)
			return true
		})
		require.LessOrEqual(t, deepest, parse.MaxDepth, name)
		again, err := parse.Statements(parse.Format(statements[0]))
		require.NoError(t, err, name)
		require.Equal(t, parse.Format(statements[0]), parse.Format(again[0]), name)
	}
}

// wide are texts that repeat a form on one level.
var wide = map[string]func(n int) string{
	"or":     func(n int) string { return "select a" + strings.Repeat(" or a = 1", n) },
	"and":    func(n int) string { return "select a" + strings.Repeat(" and not b", n) },
	"in":     func(n int) string { return "select a in (1" + strings.Repeat(", 1", n) + ")" },
	"items":  func(n int) string { return "select 1" + strings.Repeat(", a as b", n) },
	"values": func(n int) string { return "values (1)" + strings.Repeat(", (1)", n) },
	"case":   func(n int) string { return "select case" + strings.Repeat(" when a then b", n) + " end" },
	"tables": func(n int) string { return "from a" + strings.Repeat(", b", n) },
	"names":  func(n int) string { return "select a" + strings.Repeat(".b", n) },
	"with": func(n int) string {
		return "with a as (select 1)" + strings.Repeat(", a as (select 1)", n) + " select 1"
	},
	"comments": func(n int) string { return "select 1" + strings.Repeat(" /* a */", n) },
	"text":     func(n int) string { return "select '" + strings.Repeat("''", n) + "'" },
	"texts":    func(n int) string { return "select 'a'" + strings.Repeat("\n'b'", n) },
	"number":   func(n int) string { return "select " + strings.Repeat("1_0", n) },
	"dollars":  func(n int) string { return "select $x$" + strings.Repeat("$y$", n) + "$x$" },
	"select":   func(n int) string { return strings.Repeat("select 1;", n) },
	"wrong":    func(n int) string { return "select " + strings.Repeat("a, ", n) + "from from" },
	"faults":   func(n int) string { return "select a" + strings.Repeat(" a", n) },
}

// TestWideTexts: the memory of the parser and of Format grows with the length of a text, not faster.
func TestWideTexts(t *testing.T) {
	for name, text := range wide {
		t.Run(name, func(t *testing.T) {
			const n = 10000
			single, double := allocated(text(n)), allocated(text(2*n))
			require.Less(t, double, 3*single+1<<20, "bytes for %d and %d links", n, 2*n)
		})
	}
}

// allocated returns the bytes that reading a text and writing its trees allocate.
func allocated(text string) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	statements, err := parse.Statements(text)
	if err == nil {
		for _, statement := range statements {
			_ = parse.Format(statement)
		}
	}
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestLargeTexts: large texts of one level are read, and others are refused at their first levels. Each takes a
// part of a second; an algorithm of square time would take minutes.
func TestLargeTexts(t *testing.T) {
	for name, text := range map[string]string{
		"list of IN": "select a in (1" + strings.Repeat(", 123", 100000) + ")",
		"or":         "select a" + strings.Repeat(" or a = 123", 80000),
	} {
		statements, err := parse.Statements(text)
		require.NoError(t, err, name)
		require.Greater(t, len(parse.Format(statements[0])), len(text)-1, name)
	}
	for _, form := range []string{"(", "+", "+-", "a.", "$", "::int", "double ", "timestamp with ", "e'\\' "} {
		_, err := parse.Statements("select a " + strings.Repeat(form, 200000))
		require.Error(t, err, form)
		_, err = parse.Statements("from " + strings.Repeat(form, 200000))
		require.Error(t, err, form)
	}
}
