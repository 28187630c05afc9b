package parse_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/testing/sqltest"
	"github.com/gpuframe/gpuframe/sql/parse"
	"github.com/gpuframe/gpuframe/sql/tree"
)

// lines returns the texts of a file of testdata, without the lines of its comments.
func lines(t testing.TB, name string) (texts []string) {
	t.Helper()
	contents, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	for line := range strings.Lines(string(contents)) {
		if line = strings.TrimSuffix(line, "\n"); !strings.HasPrefix(line, "-- ") {
			texts = append(texts, line)
		}
	}
	require.NotEmpty(t, texts)
	return texts
}

// TestAccepted: the statements are read, and their texts have the same trees.
func TestAccepted(t *testing.T) {
	for _, text := range append(lines(t, "accepted.sql"), lines(t, "wider.sql")...) {
		statements, err := parse.Statements(text)
		require.NoError(t, err)
		for _, statement := range statements {
			sqltest.ClearPositions(statement)
			requireSameTree(t, statement)
		}
	}
}

// TestRefused: the texts are refused, with a place in them and a message that names the fault.
func TestRefused(t *testing.T) {
	for _, text := range append(lines(t, "refused.sql"), lines(t, "left-out.sql")...) {
		_, err := parse.Statements(text)
		var fault *parse.Error
		require.ErrorAs(t, err, &fault, text)
		require.LessOrEqual(t, int(fault.Position), len(text), text)
		require.NotEmpty(t, fault.Message, text)
	}
}

// TestLeftOut: errors about forms of DuckDB that are left out name them.
func TestLeftOut(t *testing.T) {
	for _, text := range lines(t, "left-out.sql") {
		_, err := parse.Statements(text)
		require.ErrorContains(t, err, "not supported", text)
	}
}

// TestStatementsOfText: semicolons separate statements, and parameters count in each.
func TestStatementsOfText(t *testing.T) {
	statements, err := parse.Statements(";; select ?, ? ;\n-- none\n; from t where a = ?;")
	require.NoError(t, err)
	require.Len(t, statements, 2)
	require.EqualValues(t, 3, statements[0].Pos())
	require.Equal(t, "select * from t where a = $1", parse.Format(statements[1]))

	statements, err = parse.Statements(" /* nothing */ ")
	require.NoError(t, err)
	require.Empty(t, statements)
}

// TestExpr: an expression is a whole text.
func TestExpr(t *testing.T) {
	e, err := parse.Expr("-a[1]::int ** 2 + x.y")
	require.NoError(t, err)
	require.Equal(t, "((- cast(a[1] as int)) ** 2) + x.y", parse.Format(e))
	_, err = parse.Expr("a b")
	require.ErrorContains(t, err, "unexpected “b”")
	_, err = parse.Expr("$0")
	require.ErrorContains(t, err, "the number of a parameter has to be between 1 and 65535")
	_, err = parse.Expr("")
	require.ErrorContains(t, err, "unexpected end of the text: expected an expression")
}

// TestPositions: nodes have the place of the token that makes them.
func TestPositions(t *testing.T) {
	text := "select 'ü', a + f(b) from t where x between 1 and 2 and not y"
	statements, err := parse.Statements(text)
	require.NoError(t, err)
	places := map[string]string{}
	tree.Walk(statements[0], func(n tree.Node, _ int) bool {
		if e, ok := n.(tree.Expr); ok {
			places[parse.Format(e)] = text[n.Pos():]
		}
		return true
	})
	for form, place := range map[string]string{
		"'ü'": "'ü'", "a + f(b)": "+ f(b)", "a": "a +", "f(b)": "f(b)", "b": "b)", "x between 1 and 2": "between", "not y": "not y",
	} {
		require.True(t, strings.HasPrefix(places[form], place), "%s at %q", form, places[form])
	}
}

// BenchmarkStatements reads the statements of the tests.
func BenchmarkStatements(b *testing.B) {
	texts := lines(b, "accepted.sql")
	b.ReportAllocs()
	for b.Loop() {
		for _, text := range texts {
			if _, err := parse.Statements(text); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(texts)), "ns/statement")
}

// TestTokens: the values of literals and names.
func TestTokens(t *testing.T) {
	for text, want := range map[string]tree.Expr{
		`'it''s'`:                &tree.Literal{Kind: tree.Text, Text: "it's"},
		"'a'\n  'b'":             &tree.Literal{Kind: tree.Text, Text: "ab"},
		`e'\t\x41\101\u00e4\''`:  &tree.Literal{Kind: tree.Text, Text: "\tAAä'"},
		`$$a'b$$`:                &tree.Literal{Kind: tree.Text, Text: "a'b"},
		`$x$a$$b$x$`:             &tree.Literal{Kind: tree.Text, Text: "a$$b"},
		`x'0fF0'`:                &tree.Literal{Kind: tree.Blob, Text: "0fF0"},
		`1_000_000`:              &tree.Literal{Kind: tree.Integer, Text: "1000000"},
		`0xFf`:                   &tree.Literal{Kind: tree.Integer, Text: "0xFf"},
		`.5`:                     &tree.Literal{Kind: tree.Decimal, Text: ".5"},
		`5.`:                     &tree.Literal{Kind: tree.Decimal, Text: "5."},
		`1.5e-3`:                 &tree.Literal{Kind: tree.Float, Text: "1.5e-3"},
		`"a ""b"""`:              &tree.Column{Name: []tree.Name{{Text: `a "b"`, Quoted: true}}},
		"\u00a0Größe\u3000":      &tree.Column{Name: []tree.Name{{Text: "Größe"}}},
		"/* a /* b */ c */ d --": &tree.Column{Name: []tree.Name{{Text: "d"}}},
		"$name":                  &tree.Parameter{Name: "name"},
		"$12":                    &tree.Parameter{Number: 12},
		"#3":                     &tree.Ordinal{Number: 3},
		"current_date":           &tree.Column{Name: []tree.Name{{Text: "current_date"}}},
	} {
		e, err := parse.Expr(text)
		require.NoError(t, err)
		sqltest.ClearPositions(e)
		require.Equal(t, want, e, text)
	}
}
