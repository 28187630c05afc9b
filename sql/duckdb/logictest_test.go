package duckdb

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestLogicFiles reads files in the format of sqllogictest, such as those of DuckDB's test/sql, from the folders of the environment
// variable SQLLOGICTEST, which a colon separates. Statements that are no queries run in DuckDB, whose tables gpuframe then reads. Queries run in both, and
// their rows are compared. It reports the share of queries with the same rows, and the others by reason.
func TestLogicFiles(t *testing.T) {
	folders := os.Getenv("SQLLOGICTEST")
	if folders == "" {
		t.Skip("SQLLOGICTEST names no folders")
	}
	var all tally
	for _, folder := range filepath.SplitList(folders) {
		own := tally{}
		require.NoError(t, filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() && strings.HasSuffix(path, ".test") && !crashes[entry.Name()] {
				t.Run(strings.TrimPrefix(path, filepath.Dir(folder)), func(t *testing.T) { own.file(t, path) })
			}
			return err
		}))
		t.Logf("%s: %s", filepath.Base(folder), own.shares())
		all.add(own)
	}
	t.Logf("all: %s\n%s", all.shares(), all.list())
	require.Positive(t, all.same)
}

// crashes are files of later versions that end the process within DuckDB 1.4.4.
var crashes = map[string]bool{"test_window_constant_allocator.test": true, "recursive_cte_key_union.test": true, "list_zip.test": true}

// tally counts queries by their outcome.
type tally struct {
	same, different, refused, leftOut, files int
	reasons                                  map[string][]string
}

func (c *tally) note(count *int, reason, example string) {
	*count++
	if c.reasons == nil {
		c.reasons = map[string][]string{}
	}
	c.reasons[reason] = append(c.reasons[reason], example)
}

func (c *tally) add(other tally) {
	c.same, c.different, c.refused, c.leftOut, c.files = c.same+other.same, c.different+other.different, c.refused+other.refused, c.leftOut+other.leftOut, c.files+other.files
	if c.reasons == nil {
		c.reasons = map[string][]string{}
	}
	for reason, examples := range other.reasons {
		c.reasons[reason] = append(c.reasons[reason], examples...)
	}
}

func (c *tally) shares() string {
	compared := c.same + c.different + c.refused
	return fmt.Sprintf("%d of %d queries have the same rows (%.1f %%), %d differ, %d are refused; %d are left out; %d files", c.same, compared, 100*float64(c.same)/float64(max(compared, 1)), c.different, c.refused, c.leftOut, c.files)
}

// list returns the reasons, the most frequent first, with an example each.
func (c *tally) list() string {
	names := slices.Collect(maps.Keys(c.reasons))
	slices.SortFunc(names, func(a, b string) int { return len(c.reasons[b]) - len(c.reasons[a]) })
	var text strings.Builder
	for _, name := range names {
		shortest := slices.MinFunc(c.reasons[name], func(a, b string) int { return len(a) - len(b) })
		examples := []string{shortest}
		if name == different {
			examples = c.reasons[name]
		}
		fmt.Fprintf(&text, "%5d %s\n", len(c.reasons[name]), name)
		for _, example := range examples {
			fmt.Fprintf(&text, "        %s\n", strings.Join(strings.Fields(example), " "))
		}
	}
	return text.String()
}

// file runs the records of a file.
func (c *tally) file(t *testing.T, path string) {
	records, leftOut := readTestFile(path)
	c.files++
	if leftOut != "" {
		c.leftOut += len(records)
		return
	}
	p := openEmpty(t)
	tables := imports{p, t.TempDir(), map[string]bool{}}
	for _, r := range records {
		switch word := wordOf(r.text); {
		case slices.Contains([]string{"select", "with", "values", "from", "pivot", "unpivot"}, word) && !r.fails && r.isQuery:
			c.query(t, tables, r)
		case strings.Contains(r.text, "null_order") || strings.Contains(r.text, "memory_limit") || strings.Contains(r.text, "verif"):
		default:
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			_, err := p.db.ExecContext(ctx, r.text)
			cancel()
			if err == nil && viewName.MatchString(r.text) {
				_ = tables.read(t.Context(), r.text)
				_, _ = p.session.Exec(t.Context(), r.text)
			}
			tables.changed(r.text)
		}
	}
}

var (
	digits = regexp.MustCompile(`\d+`)
	quoted = regexp.MustCompile("\"[^\"]*\"|`[^`]*`|: there are .*")
)

// query runs a query in both.
func (c *tally) query(t *testing.T, tables imports, r record) {
	theirs, err := tables.theirs(r.text)
	if err != nil {
		c.leftOut++ // a newer DuckDB has the answer
		return
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := tables.read(ctx, r.text); err != nil {
		c.note(&c.leftOut, "left out: "+digits.ReplaceAllString(strings.Split(err.Error(), "\n")[0], "N"), r.text)
		return
	}
	_, mine, err := tables.mine(ctx, r.text)
	if err != nil {
		reason := strings.Split(err.Error(), "\n")[0]
		if _, after, ok := strings.Cut(reason, "column "); ok {
			_, reason, _ = strings.Cut(after, ": ")
		}
		reason, _, _ = strings.Cut(reason, ": there ")
		if !strings.HasPrefix(reason, "no function") {
			reason = digits.ReplaceAllString(quoted.ReplaceAllString(reason, "X"), "N")
		}
		c.note(&c.refused, reason, r.text)
		return
	}
	if r.sorted || !strings.Contains(strings.ToLower(r.text), "order by") {
		slices.SortFunc(mine, slices.Compare)
		slices.SortFunc(theirs, slices.Compare)
	}
	if slices.EqualFunc(mine, theirs, slices.Equal) {
		c.same++
		return
	}
	c.note(&c.different, different, fmt.Sprintf("%s => %.200s, DuckDB has %.200s", r.text, fmt.Sprint(mine), fmt.Sprint(theirs)))
}

// different is the reason of queries with other rows, all of which are listed.
const different = "the rows differ"

// imports are the tables of DuckDB that gpuframe has read.
type imports struct {
	*peers
	folder  string
	current map[string]bool
}

// changed forgets the tables that a statement may have changed.
func (i imports) changed(text string) {
	text = strings.ToLower(text)
	for name := range i.current {
		if strings.Contains(text, name) {
			delete(i.current, name)
		}
	}
}

// read gives gpuframe the tables of DuckDB that a statement may name.
func (i imports) read(ctx context.Context, text string) error {
	const ownTypes = "replace(data_type, 'HUGEINT', 'DECIMAL(38,0)')"
	tables, err := i.theirs("select table_name, string_agg('cast(\"' || column_name || '\" as ' || " + ownTypes + " || ') as \"' || column_name || '\"', ', ' order by column_index) from duckdb_columns() where not internal and table_name in (select table_name from duckdb_tables()) group by 1")
	if err != nil {
		return err
	}
	text = strings.ToLower(text)
	for _, table := range tables {
		name := strings.ToLower(table[0])
		if i.current[name] || !strings.Contains(text, name) {
			continue
		}
		path := filepath.Join(i.folder, fmt.Sprintf("%d.parquet", time.Now().UnixNano()))
		if _, err := i.db.ExecContext(ctx, fmt.Sprintf(`copy (select %s from "%s") to '%s' (format parquet)`, table[1], table[0], path)); err != nil {
			return err
		}
		i.session.Register(table[0], i.engine.Parquet(path))
		i.current[name] = true
	}
	return nil
}
