package duckdb

import (
	"context"
	"database/sql"
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	_ "github.com/duckdb/duckdb-go/v2"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/testing/clickbench"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/internal/testing/sqltest"
	"github.com/gpuframe/gpuframe/sql/parse"
	"github.com/gpuframe/gpuframe/sql/tree"
)

var (
	parserTexts = flag.Int("parser-texts", 2000, "random texts of each kind for the tests of the parser")
	parserFiles = flag.String("parser-files", "", "pattern of files with more statements, each behind a line that begins with “-- class:”")
)

// verdict is the decision of DuckDB about a text.
type verdict uint8

const (
	// refused is a text that is no statement.
	refused verdict = iota
	// checked is a statement that is refused for its names, types or numbers of arguments, which DuckDB's parser
	// checks too.
	checked
	// unserialized is a statement that is no query: DuckDB does not return its tree.
	unserialized
	accepted
)

// parserOracle is DuckDB's parser.
type parserOracle struct{ statement *sql.Stmt }

func newParserOracle(t *testing.T) *parserOracle {
	t.Helper()
	db, err := sql.Open("duckdb", "")
	require.NoError(t, err)
	statement, err := db.Prepare("select json_serialize_sql($1::varchar)::varchar")
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, statement.Close())
		require.NoError(t, db.Close())
	})
	return &parserOracle{statement}
}

// parse returns DuckDB's decision about a text, and its tree or its message.
func (o *parserOracle) parse(t *testing.T, text string) (v verdict, statements any, message string) {
	t.Helper()
	var document string
	require.NoError(t, o.statement.QueryRowContext(context.Background(), text).Scan(&document), text)
	var answer struct {
		Error      bool   `json:"error"`
		Message    string `json:"error_message"`
		Statements any    `json:"statements"`
	}
	require.NoError(t, json.Unmarshal([]byte(document), &answer))
	switch {
	case !answer.Error:
		return accepted, normalized(answer.Statements), ""
	case strings.Contains(answer.Message, "Only SELECT statements"):
		return unserialized, nil, answer.Message
	}
	for _, syntax := range []string{"syntax error", "unterminated", "zero-length", "NOT IMPLEMENTED"} {
		if strings.Contains(answer.Message, syntax) {
			return refused, nil, answer.Message
		}
	}
	return checked, nil, answer.Message
}

// normalized drops the differences of DuckDB's trees that are none of meaning: places, the schema that the grammar
// gives to some forms of a function, the case of the names of types, and ASC, which is the default.
func normalized(value any) any {
	switch v := value.(type) {
	case map[string]any:
		delete(v, "query_location")
		switch v["type"] {
		case "USER_TYPE_INFO":
			v["user_type_name"] = strings.ToLower(v["user_type_name"].(string))
		case "ORDER_DEFAULT":
			v["type"] = "ASCENDING"
		}
		for key, field := range v {
			if key == "schema" && field == "main" || key == "catalog" && field == "" {
				delete(v, key)
				continue
			}
			v[key] = normalized(field)
		}
		if v["schema"] == "" {
			delete(v, "schema")
		}
	case []any:
		for i, element := range v {
			v[i] = normalized(element)
		}
	}
	return value
}

// printed returns the text of statements with parentheses around each operand.
func printed(statements []tree.Statement) string {
	texts := make([]string, len(statements))
	for i, statement := range statements {
		texts[i] = parse.Format(statement)
	}
	return strings.Join(texts, ";\n")
}

// difference compares the two parsers for a text. It returns an empty text if both refuse it, and if both accept
// it and the text with all parentheses has the same meaning for DuckDB. Forms that are left out by decision are no
// difference.
func (o *parserOracle) difference(t *testing.T, text string) string {
	t.Helper()
	statements, err := parse.Statements(text)
	v, theirs, message := o.parse(t, text)
	switch {
	case err != nil && (v == refused || v == checked || strings.Contains(err.Error(), "not supported")):
		return ""
	case err != nil:
		return "DuckDB accepts it: " + err.Error()
	case v == refused:
		return "DuckDB refuses it: " + message + "\n  it was read as " + printed(statements)
	case v != accepted:
		return ""
	}
	full := printed(statements)
	v, ours, message := o.parse(t, full)
	switch {
	case v != accepted:
		return "DuckDB refuses the printed text: " + message + "\n  " + full
	case !reflect.DeepEqual(theirs, ours):
		return "the printed text has another meaning:\n  " + full
	}
	return ""
}

// compare fails for each text for which the parsers differ.
func (o *parserOracle) compare(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if difference := o.difference(t, text); difference != "" {
			t.Errorf("%s\n  %s", text, difference)
		}
	}
}

// parserLines returns the texts of a file of the parser's testdata.
func parserLines(t *testing.T, name string) (texts []string) {
	t.Helper()
	contents, err := os.ReadFile(filepath.Join("../parse/testdata", name))
	require.NoError(t, err)
	for line := range strings.Lines(string(contents)) {
		if !strings.HasPrefix(line, "-- ") {
			texts = append(texts, strings.TrimSuffix(line, "\n"))
		}
	}
	return texts
}

// parserSections returns the texts behind lines with a class.
func parserSections(t *testing.T, path string) (texts []string) {
	t.Helper()
	contents, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, section := range strings.Split("\n"+string(contents), "\n-- class: ")[1:] {
		_, text, _ := strings.Cut(section, "\n")
		texts = append(texts, text)
	}
	require.NotEmpty(t, texts)
	return texts
}

// TestParserOnStatements: the statements of the parser's tests, of the benchmarks and of the flag.
func TestParserOnStatements(t *testing.T) {
	o := newParserOracle(t)
	o.compare(t, parserLines(t, "accepted.sql")...)
	o.compare(t, parserLines(t, "refused.sql")...)
	o.compare(t, parserSections(t, "../parse/testdata/wrong.sql")...)
	files, err := filepath.Glob("../../bench/tpch/queries/*.sql")
	require.NoError(t, err)
	require.Len(t, files, 22)
	for _, file := range files {
		contents, err := os.ReadFile(file)
		require.NoError(t, err)
		o.compare(t, string(contents))
	}
	for _, question := range clickbench.Questions {
		o.compare(t, question)
	}
	files, err = filepath.Glob(*parserFiles)
	require.NoError(t, err)
	for _, file := range files {
		o.compare(t, parserSections(t, file)...)
	}
}

// TestParserLeavesOut: the forms that are left out are DuckDB's, and the wider ones are not.
func TestParserLeavesOut(t *testing.T) {
	o := newParserOracle(t)
	for _, text := range parserLines(t, "left-out.sql") {
		v, _, message := o.parse(t, text)
		require.NotEqual(t, refused, v, "%s: %s", text, message)
	}
	for _, text := range parserLines(t, "wider.sql") {
		require.NotEmpty(t, o.difference(t, text)+o.checkedMessage(t, text), text)
	}
}

// checkedMessage returns DuckDB's message about a text that it refuses for its meaning.
func (o *parserOracle) checkedMessage(t *testing.T, text string) string {
	t.Helper()
	_, _, message := o.parse(t, text)
	return message
}

// operatorForms are operators with an operand on each side, behind an operand or before one.
var (
	infixForms = []string{
		"or", "and", "=", "<>", "!=", "<", "<=", ">", ">=", "==", "is distinct from", "is not distinct from", "like", "not like",
		"ilike", "glob", "similar to", "not similar to", "between 1 and", "not between 1 and", "like x escape", "+", "-", "*",
		"/", "//", "%", "^", "**", "||", "&", "|", "<<", ">>", "~", "!~", "~*", "->", "->>", "@>", "<@", "&&", "^@", "<->", "!",
		"~~", "operator(+)", "operator(=)", "at time zone",
	}
	postfixForms = []string{
		"is null", "is not null", "isnull", "notnull", "not null", "is true", "is not unknown", "in (1)", "not in (1)", "in y",
		"in [1]", "::int", "collate nocase", "[1]", "[1:2]", "= any (y)", "> all (select 1)", "!", "at time zone 'utc'",
		"::int[]",
	}
	prefixForms = []string{"not", "-", "+", "~", "@", "!", "lambda x :", "exists (select 1) +", "interval 1 day +", "date '2020-01-01' -"}
)

// TestParserPrecedence: each operator next to each other one.
func TestParserPrecedence(t *testing.T) {
	o := newParserOracle(t)
	for _, first := range infixForms {
		for _, second := range infixForms {
			o.compare(t, "select a "+first+" b "+second+" c")
			o.compare(t, "select a between b "+first+" c and d "+second+" e")
		}
		for _, postfix := range postfixForms {
			o.compare(t, "select a "+first+" b "+postfix, "select a "+postfix+" "+first+" b")
		}
		for _, prefix := range prefixForms {
			o.compare(t, "select "+prefix+" a "+first+" b", "select a "+first+" "+prefix+" b "+first+" c")
		}
	}
	for _, first := range append(postfixForms, prefixForms...) {
		for _, second := range append(postfixForms, prefixForms...) {
			o.compare(t, "select a "+first+" "+second, "select "+first+" a "+second, "select "+first+" "+second+" a")
		}
	}
}

// keywordForms are statements with a keyword in each place of a name.
var keywordForms = strings.Split(`select KW from t
select 1 KW from t
select 1 as KW
select * from KW
select * from t KW
select * from t KW (a)
select KW(1, 2, 3)
select s.KW(1)
select 1::KW
select t.KW
select KW.a
with KW as (select 1) select 1
select {KW: 1}
select f(KW := 1)
select f(1) over KW from t window KW as ()
select KW 'x'
select * from s.KW
select * from t join u using (KW)
select a collate KW
select lambda KW : 1
select KW: 1
select * from KW: t
select * exclude (KW)
select * replace (1 as KW)
select a + KW + b
select a from t group by KW order by KW
select a in KW
select * from t KW join u on v
select 1::struct(KW int)
select KW is null
select - KW
select a ! KW
select interval 1 KW
select $KW`, "\n")

// TestParserKeywords: each keyword in each place of a name.
func TestParserKeywords(t *testing.T) {
	o := newParserOracle(t)
	db, err := sql.Open("duckdb", "")
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	rows, err := db.Query("select keyword_name from duckdb_keywords()")
	require.NoError(t, err)
	defer func() { require.NoError(t, rows.Close()) }()
	count := 0
	for rows.Next() {
		var keyword string
		require.NoError(t, rows.Scan(&keyword))
		for _, form := range keywordForms {
			if form == "select a ! KW" && keyword == "escape" {
				continue // DuckDB reads ESCAPE as the operator, which needs a LIKE
			}
			o.compare(t, strings.ReplaceAll(form, "KW", keyword))
		}
		count++
	}
	require.NoError(t, rows.Err())
	require.Greater(t, count, 400)
}

// TestParserOnRandomTexts: statements of random trees, with all parentheses and with a part of them, statements with
// wrong tokens, and tokens without a grammar.
func TestParserOnRandomTexts(t *testing.T) {
	o := newParserOracle(t)
	for name, draw := range map[string]func(r *rand.Rand, depth int) string{
		"trees": func(r *rand.Rand, depth int) string { return parse.Format(sqltest.Statement(r, 1+depth)) },
		"loose": func(r *rand.Rand, depth int) string {
			return sqltest.Loosen(r, parse.Format(sqltest.Query(r, 1+depth)))
		},
		"expressions": func(r *rand.Rand, depth int) string {
			return "select " + sqltest.Loosen(r, parse.Format(sqltest.Expr(r, 1+depth)))
		},
		"wrong": func(r *rand.Rand, depth int) string {
			return sqltest.Mutate(r, parse.Format(sqltest.Query(r, min(depth, 2))))
		},
		"soup": func(r *rand.Rand, _ int) string { return sqltest.Soup(r, 20) },
	} {
		t.Run(name, func(t *testing.T) {
			r := property.Random(t)
			for i := range *parserTexts {
				o.compare(t, draw(r, i*4 / *parserTexts)) // short texts first
			}
		})
	}
}
