package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/expr/catalog"
	"github.com/gpuframe/gpuframe/internal/query/querydata"
)

// writeFile writes a file into a new folder.
func writeFile(t *testing.T, name, text string) string {
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// TestDocument prints documents, and compares their rows with those of the command.
func TestDocument(t *testing.T) {
	sales := writeFile(t, "sales.csv", "city;n\nOslo;1\nBern;2\n")
	cities := writeFile(t, "cities.csv", "name;country\nOslo;no\nBern;ch\n")
	output, messages, err := command(t.Context(), "query", "sales/*.parquet", "-p", "filter n > 1 | head 2", "--document")
	require.NoError(t, err)
	require.Empty(t, messages)
	require.Equal(t, `{"version": 1, "steps": [
  {"paths":["sales/*.parquet"],"verb":"parquet"},
  {"conditions":[{"arguments":[{"function":"column","name":"n"},{"function":"literal","value":1}],"function":"gt"}],"inputs":[0],"place":{"file":"--pipeline","line":1,"verb":"filter"},"verb":"filter"},
  {"inputs":[1],"n":2,"place":{"file":"--pipeline","line":1,"verb":"head"},"verb":"head"}
]}
`, output, "no file is opened")
	for _, arguments := range [][]string{
		{"-p", "join ('" + cities + "' | filter country = 'no') on city = name", "--delimiter", ";"},
		{"--filter", "f0 != 'Bern'", "--delimiter", ";", "--no-header", "--types", "f1=string", "--infer-rows", "5", "--select", "f1"},
		{"--group", "city", "--agg", "count() as n", "--sort", "city", "--delimiter", ";"},
	} {
		query := append([]string{"query", sales, "--to", "csv"}, arguments...)
		document, _, err := command(t.Context(), append(query, "--document")...)
		require.NoError(t, err)
		want, _, err := command(t.Context(), query...)
		require.NoError(t, err)
		e, err := gpuframe.Open(gpuframe.Device("host"))
		require.NoError(t, err)
		q, err := querydata.Decode(t.Context(), e, []byte(document), querydata.Options{})
		require.NoError(t, err)
		var rows strings.Builder
		_, err = q.Write(t.Context(), &rows, gpuframe.CSV())
		require.NoError(t, err)
		require.Equal(t, want, rows.String())
		require.NoError(t, e.Close())
	}
	output, _, err = command(t.Context(), "query", "--document", "--table", "sales", "-p", "join table 'cities' using city")
	require.NoError(t, err)
	require.Contains(t, output, `{"name":"sales","verb":"table"}`)
	require.Contains(t, output, `{"name":"cities","verb":"table"}`)
	_, _, err = command(t.Context(), "query", "--table", "sales")
	require.ErrorContains(t, err, "--table is for --document")
	_, _, err = command(t.Context(), "query", "a.csv", "--document", "--table", "sales")
	require.ErrorContains(t, err, "unknown command")
	_, _, err = command(t.Context(), "query", "-", "--from", "csv", "--document")
	require.ErrorContains(t, err, "--document: - is standard input")
	_, _, err = command(t.Context(), "query", "none", "--document")
	require.ErrorContains(t, err, "none: no such file")
	_, _, err = command(t.Context(), "query", "a.parquet", "-p", "union 'none'", "--document")
	require.ErrorContains(t, err, "--pipeline:1:7: ")
}

// TestFurtherFiles joins standard input with files, of which the extension is stronger than --from.
func TestFurtherFiles(t *testing.T) {
	plain := writeFile(t, "cities", "name,country\nOslo,no\n")
	lines := writeFile(t, "cities.jsonl", `{"name":"Oslo","country":"no"}`+"\n")
	for _, path := range []string{plain, lines} {
		output, err := execute("city,n\nOslo,1\nBern,2\n", "query", "-", "--from", "csv", "--to", "csv", "--device", "host", "-p", "join '"+path+"' on city = name")
		require.NoError(t, err)
		require.Equal(t, "Oslo,1,Oslo,no", strings.Split(output, "\n")[1])
	}
	_, _, err := command(t.Context(), "query", flights, "-p", "join '"+plain+"' on delay = name")
	require.ErrorContains(t, err, "--pipeline:1:6: "+plain+": the extension names no format: give --from")
}

func TestFunctions(t *testing.T) {
	list, err := execute("", "functions")
	require.NoError(t, err)
	help, err := execute("", "query", "--help")
	require.NoError(t, err)
	require.Contains(t, help, list)
	for _, f := range catalog.All() {
		if f.Kind != catalog.Form {
			require.Regexp(t, `[ ,:]`+f.Name+`\b`, list)
		}
	}
	text, err := execute("", "functions", "quantile", "count")
	require.NoError(t, err)
	require.Contains(t, text, "quantile(e, q) (quantile_cont)\n quantile is the value below which a fraction q of the values lies, interpolated.\n operands: numbers, decimals\n result: float64\n null: no values\n example: quantile(price, 0.9)\n")
	require.Contains(t, text, "count(e)\n")
	require.Contains(t, text, "count_rows() (count)\n")
	_, err = execute("", "functions", "quantil")
	require.ErrorContains(t, err, `no function is called "quantil": there are "quantile"`)
}
