package command

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/memory"
)

// flights has 200,000 rows: delay and distance of int16, time of float32.
var flights = func() string {
	folder := os.Getenv("GPUFRAME_DATA")
	if folder == "" {
		folder = filepath.FromSlash("../../examples/data")
	}
	return filepath.Join(folder, "flights-200k.arrow")
}()

// command runs a command line on the host.
func command(ctx context.Context, arguments ...string) (output, messages string, err error) {
	var out, errors bytes.Buffer
	root := newRoot()
	root.SetArgs(append(arguments, "--device", "host"))
	root.SetOut(&out)
	root.SetErr(&errors)
	err = root.ExecuteContext(ctx)
	return out.String(), errors.String(), err
}

func TestGolden(t *testing.T) {
	for _, test := range []struct {
		name      string
		arguments []string
		want      string
	}{
		{"schema", []string{"schema", flights}, `shape: (3, 3)
┌──────────┬─────────┬──────────┐
│ column   ┆ type    ┆ nullable │
│ utf8     ┆ utf8    ┆ bool     │
╞══════════╪═════════╪══════════╡
│ delay    ┆ int16   ┆ true     │
│ distance ┆ int16   ┆ true     │
│ time     ┆ float32 ┆ true     │
└──────────┴─────────┴──────────┘
`},
		{"head", []string{"head", flights, "-n", "2"}, `shape: (2, 3)
┌───────┬──────────┬─────────┐
│ delay ┆ distance ┆    time │
│ int16 ┆    int16 ┆ float32 │
╞═══════╪══════════╪═════════╡
│     0 ┆     1452 ┆     0.0 │
│   171 ┆     2227 ┆     0.0 │
└───────┴──────────┴─────────┘
`},
		{"flags", []string{"query", flights, "--filter", "delay > 15", "--filter", "distance >= 200", "--group", "floor(time) as hour",
			"--agg", "count() as late", "--top", "2 by late desc", "--to", "csv"}, "hour,late\n19,3061\n17,2983\n"},
		{"pipeline", []string{"query", flights, "--to", "json", "-p", "agg max(delay), min(delay) as least, count() as n"},
			`{"delay":1444,"least":-86,"n":200000}` + "\n"},
		{"explain", []string{"query", flights, "--explain", "-p", "filter delay > 15 | head 3"}, `as written:
  head 3  [about 3 rows, 24 B]
    filter delay > 15
      scan arrow FLIGHTS

as run on host:
  head 3  [about 3 rows, 24 B]
    filter delay > 15
      scan arrow FLIGHTS, may skip rows unless delay > 15

result of about 3 rows, 24 B; smallest budget 12 KiB
`},
		{"diagram", []string{"query", flights, "--explain=mermaid", "-p", "filter delay > 15 | head 3"}, `flowchart BT
    n0["head 3<br/>[about 3 rows, 24 B]"]
    n1["filter delay #gt; 15"]
    n2["scan arrow FLIGHTS, may skip rows unless delay #gt; 15"]
    n1 --> n0
    n2 --> n1
`},
	} {
		t.Run(test.name, func(t *testing.T) {
			output, messages, err := command(t.Context(), test.arguments...)
			require.NoError(t, err)
			assert.Equal(t, test.want, strings.ReplaceAll(output, flights, "FLIGHTS"))
			assert.Empty(t, messages)
		})
	}
}

// TestPlainCount compares a query with a loop over the records of arrow-go.
func TestPlainCount(t *testing.T) {
	file, err := os.Open(flights)
	require.NoError(t, err)
	defer file.Close()
	reader, err := ipc.NewFileReader(file)
	require.NoError(t, err)
	defer reader.Close()
	counts, sums := map[int]int{}, map[int]int64{}
	for i := range reader.NumRecords() {
		record, err := reader.Record(i)
		require.NoError(t, err)
		delay, hour := record.Column(0).(*array.Int16), record.Column(2).(*array.Float32)
		for row := range int(record.NumRows()) {
			if delay.IsValid(row) && delay.Value(row) > 15 {
				h := int(math.Floor(float64(hour.Value(row))))
				counts[h]++
				sums[h] += int64(delay.Value(row))
			}
		}
	}
	var want strings.Builder
	want.WriteString("hour,n,sum\n")
	for h := range 25 {
		if counts[h] > 0 {
			fmt.Fprintf(&want, "%d,%d,%d\n", h, counts[h], sums[h])
		}
	}
	output, _, err := command(t.Context(), "query", flights, "--to", "csv", "-p",
		"filter delay > 15 | group cast(floor(time), int8) as hour agg count() as n, sum(delay) as sum | sort hour")
	require.NoError(t, err)
	assert.Equal(t, want.String(), output)
}

func TestDescribe(t *testing.T) {
	output, _, err := command(t.Context(), "describe", flights, "--to", "csv")
	require.NoError(t, err)
	rows := map[string]float64{}
	for line := range strings.SplitSeq(strings.TrimSpace(output), "\n") {
		cells := strings.Split(line, ",")
		rows[cells[0]], _ = strconv.ParseFloat(cells[1], 64)
	}
	assert.Equal(t, 200000.0, rows["count"])
	assert.Equal(t, -86.0, rows["min"])
	assert.Equal(t, 1444.0, rows["max"])
}

// Files of each format are written and read again, from files, patterns and folders.
func TestFormats(t *testing.T) {
	want, _, err := command(t.Context(), "head", flights, "-n", "100", "--to", "csv")
	require.NoError(t, err)
	for _, format := range fileFormats {
		folder := t.TempDir()
		path := filepath.Join(folder, "some"+format.extensions[0])
		output, _, err := command(t.Context(), "head", flights, "-n", "100", "-o", path)
		require.NoError(t, err)
		assert.Empty(t, output)
		for _, from := range []string{path, filepath.Join(folder, "so*"), folder} {
			back, _, err := command(t.Context(), "query", from, "--to", "csv")
			require.NoError(t, err, from)
			assert.Equal(t, want, back, from)
		}
		whole, _, err := command(t.Context(), "query", path, "--to", format.name)
		require.NoError(t, err)
		renamed := filepath.Join(folder, "renamed")
		require.NoError(t, os.WriteFile(renamed, []byte(whole), 0o600))
		back, _, err := command(t.Context(), "query", renamed, "--from", format.name, "--to", "csv")
		require.NoError(t, err, "standard output has the same bytes as a file: %s", format.name)
		assert.Equal(t, want, back)
	}
	folder := t.TempDir()
	semicolons := filepath.Join(folder, "a.txt")
	require.NoError(t, os.WriteFile(semicolons, []byte("1;x\n2;y\n"), 0o600))
	output, _, err := command(t.Context(), "query", semicolons, "--no-header", "--delimiter", ";", "--to", "json")
	require.NoError(t, err)
	assert.Equal(t, "{\"f0\":1,\"f1\":\"x\"}\n{\"f0\":2,\"f1\":\"y\"}\n", output)
	tabs := filepath.Join(folder, "a.tsv")
	require.NoError(t, os.WriteFile(tabs, []byte("a\tb\n1\t2\n"), 0o600))
	for _, extra := range [][]string{nil, {"--delimiter", "tab"}} {
		output, _, err = command(t.Context(), append([]string{"query", tabs, "--to", "csv"}, extra...)...)
		require.NoError(t, err)
		assert.Equal(t, "a,b\n1,2\n", output)
	}
	table := filepath.Join(folder, "table.txt")
	_, _, err = command(t.Context(), "head", tabs, "--to", "table", "-o", table)
	require.NoError(t, err)
	text, err := os.ReadFile(table)
	require.NoError(t, err)
	assert.Contains(t, string(text), "shape: (1, 2)")
}

func TestProfileAndTrace(t *testing.T) {
	trace := filepath.Join(t.TempDir(), "trace.json")
	for _, name := range []string{"query", "describe"} {
		_, messages, err := command(t.Context(), name, flights, "--profile", "--trace", trace, "--budget", "1GiB")
		require.NoError(t, err)
		assert.Contains(t, messages, "200,000 rows")
		text, err := os.ReadFile(trace)
		require.NoError(t, err)
		assert.True(t, json.Valid(text))
		assert.Contains(t, string(text), "scan arrow")
	}
}

func TestErrorsOfFiles(t *testing.T) {
	folder := t.TempDir()
	damaged := filepath.Join(folder, "a.parquet")
	require.NoError(t, os.WriteFile(damaged, []byte("no such format"), 0o600))
	plain := filepath.Join(folder, "plain")
	require.NoError(t, os.WriteFile(plain, nil, 0o600))
	for title, test := range map[string]struct {
		arguments []string
		text      string
	}{
		"no file":          {[]string{"head"}, "requires at least 1 arg"},
		"missing":          {[]string{"head", filepath.Join(folder, "b.parquet")}, "b.parquet: stat: no such file"},
		"missing folder":   {[]string{"head", filepath.Join(folder, "none")}, "none: no such file"},
		"damaged":          {[]string{"schema", damaged}, "a.parquet: the file ends with"},
		"no format":        {[]string{"head", plain}, "plain: the extension names no format: give --from with one of parquet, csv, json, ipc"},
		"other format":     {[]string{"head", flights, damaged}, "expected files of one format"},
		"unknown input":    {[]string{"head", flights, "--from", "avro"}, `--from: no format is called "avro"`},
		"unknown output":   {[]string{"head", flights, "--to", "avro"}, `--to: no format is called "avro"`},
		"no output format": {[]string{"head", flights, "-o", filepath.Join(folder, "x")}, "x: the extension names no format: give --to"},
		"text output":      {[]string{"head", flights, "-o", filepath.Join(folder, "o.txt")}, "o.txt: the extension names no format: give --to with one of table, parquet"},
		"tab output":       {[]string{"head", flights, "-o", filepath.Join(folder, "o.tsv")}, "o.tsv: the extension names no format: give --to"},
		"no CSV":           {[]string{"head", flights, "--delimiter", ";"}, "--delimiter, --no-header and --types are for CSV files"},
		"types of no CSV":  {[]string{"head", flights, "--types", "delay=int8"}, "--types are for CSV files"},
		"rows of no text":  {[]string{"head", flights, "--infer-rows", "-1"}, "--infer-rows is for CSV and JSON files"},
		"no type":          {[]string{"head", filepath.Join(folder, "x.csv"), "--types", "a=int"}, `--types: column "a": no type is called "int": there are "int8"`},
		"no column":        {[]string{"head", filepath.Join(folder, "x.csv"), "--types", "int8"}, `--types: "int8", expected a column and its type`},
		"two types":        {[]string{"head", filepath.Join(folder, "x.csv"), "--types", "a=int8", "--types", "a=bool"}, `--types: column "a" has two types`},
		"input":            {[]string{"head", "-"}, "- is standard input: give --from with one of parquet, csv, json, ipc"},
		"input and files":  {[]string{"head", "-", flights, "--from", "csv"}, "expected no other files"},
		"delimiter":        {[]string{"head", filepath.Join(folder, "x.csv"), "--delimiter", ";;"}, `--delimiter is ";;", expected one character`},
		"rows":             {[]string{"head", flights, "--rows", "0"}, "--rows is 0"},
		"number":           {[]string{"head", flights, "-n", "-1"}, "--number is -1"},
		"budget":           {[]string{"head", flights, "--budget", "much"}, `--budget: "much" is not a size`},
		"cache":            {[]string{"head", flights, "--object-cache", "x", "--object-cache-size", "much"}, `--object-cache-size: "much" is not a size`},
		"size of a cache":  {[]string{"head", flights, "--object-cache-size", "1GB"}, "--object-cache-size is given without --object-cache"},
		"small budget":     {[]string{"query", flights, "--budget", "1KiB"}, "budget"},
		"group alone":      {[]string{"query", flights, "--group", "delay"}, "--group needs --agg"},
		"both":             {[]string{"query", flights, "--group", "delay", "-p", "head 1"}, "none of the others can be"},
		"flag":             {[]string{"query", flights, "--sort", "delay dsc"}, "--sort:1:7: found \"dsc\""},
		"column":           {[]string{"query", flights, "-p", "filter dely > 1"}, `--pipeline:1:8: no column is called "dely": there are "delay"`},
	} {
		t.Run(title, func(t *testing.T) {
			_, _, err := command(t.Context(), test.arguments...)
			require.ErrorContains(t, err, test.text)
			assert.NotErrorIs(t, err, memory.ErrLeak)
		})
	}
}

// TestMessages prints an error of a query: once with the name of the program, and without the
// place in its sources.
func TestMessages(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none.parquet")
	var messages bytes.Buffer
	root := newRoot()
	root.SetArgs([]string{"head", path})
	require.Equal(t, failed, run(t.Context(), root, &messages))
	require.Equal(t, "gpuframe: parquet "+path+": stat: no such file or directory\n", messages.String())
}

// TestTypes reads a file with a last value that does not have the type of the values before.
func TestTypes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "late.csv")
	require.NoError(t, os.WriteFile(path, []byte("a,b\n"+strings.Repeat("1,2\n", 10_001)+"x,3\n"), 0o600))
	tail := []string{"query", path, "--to", "csv", "-p", "tail 2"}
	root, messages := newRoot(), &bytes.Buffer{}
	root.SetArgs(append(tail, "--device", "host"))
	root.SetOut(&bytes.Buffer{})
	require.Equal(t, failed, run(t.Context(), root, messages))
	require.Contains(t, messages.String(), "give the type with --types, or infer it from more rows with --infer-rows")
	for _, further := range [][]string{{"--types", "a=string"}, {"--infer-rows", "-1"}, {"--types", "b=int64, a=utf8"}} {
		output, _, err := command(t.Context(), append(tail, further...)...)
		require.NoError(t, err)
		require.Equal(t, "a,b\n1,2\nx,3\n", output)
	}
	output, _, err := command(t.Context(), "schema", path, "--to", "csv", "--types", "a=timestamp[ms, UTC],b=decimal128(10, 2)")
	require.NoError(t, err)
	require.Contains(t, output, "a,\"timestamp[ms, tz=UTC]\",true\nb,\"decimal(10, 2)\",true")
}

// TestLateMembers reads a file of JSON lines with a member that only the last one has.
func TestLateMembers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "late.json")
	require.NoError(t, os.WriteFile(path, []byte(strings.Repeat(`{"a":1}`+"\n", 10_001)+`{"a":2,"b":3}`+"\n"), 0o600))
	tail := []string{"query", path, "--to", "csv", "-p", "tail 1"}
	root, messages := newRoot(), &bytes.Buffer{}
	root.SetArgs(append(tail, "--device", "host"))
	root.SetOut(&bytes.Buffer{})
	require.Equal(t, failed, run(t.Context(), root, messages))
	require.Contains(t, messages.String(), "infer them from more rows with --infer-rows")
	output, _, err := command(t.Context(), append(tail, "--infer-rows", "-1")...)
	require.NoError(t, err)
	require.Equal(t, "a,b\n2,3\n", output)
}

// TestStandardInput reads every format from standard input, and leaves no file behind.
func TestStandardInput(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	t.Setenv("TMP", folder)
	want, _, err := command(t.Context(), "head", flights, "-n", "100", "--to", "csv")
	require.NoError(t, err)
	for _, format := range fileFormats {
		text, _, err := command(t.Context(), "head", flights, "-n", "100", "--to", format.name)
		require.NoError(t, err)
		var out bytes.Buffer
		root := newRoot()
		root.SetArgs([]string{"query", "-", "--from", format.name, "--to", "csv", "--device", "host"})
		root.SetIn(strings.NewReader(text))
		root.SetOut(&out)
		require.NoError(t, root.ExecuteContext(t.Context()))
		require.Equal(t, want, out.String(), format.name)
	}
	left, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestCompletion(t *testing.T) {
	for _, test := range []struct {
		arguments []string
		want      []string
	}{
		{[]string{"query", "--to", ""}, []string{"parquet\n", "csv\n", "json\n", "ipc\n", "table\n"}},
		{[]string{"head", "--device", ""}, []string{"host\n"}},
		{[]string{"schema", ""}, []string{"parquet\n", "feather\n", ":8\n"}}, // 8 filters files by extension
		{[]string{"des"}, []string{"describe\t"}},
	} {
		var out bytes.Buffer
		root := newRoot()
		root.SetArgs(append([]string{"__complete"}, test.arguments...))
		root.SetOut(&out)
		root.SetErr(&bytes.Buffer{})
		require.NoError(t, root.Execute())
		for _, each := range test.want {
			assert.Contains(t, out.String(), each, "%v", test.arguments)
		}
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		var out bytes.Buffer
		root := newRoot()
		root.SetArgs([]string{"completion", shell})
		root.SetOut(&out)
		require.NoError(t, root.Execute())
		assert.Contains(t, out.String(), "gpuframe", shell)
		if program, err := exec.LookPath(shell); err == nil && shell == "bash" {
			check := exec.Command(program, "-n")
			check.Stdin = &out
			text, err := check.CombinedOutput()
			require.NoError(t, err, string(text))
		}
	}
}

// A command writes a folder of partitions, which another one reads.
func TestFolders(t *testing.T) {
	folder := t.TempDir()
	file, out := filepath.Join(folder, "a.csv"), filepath.Join(folder, "out")
	require.NoError(t, os.WriteFile(file, []byte("city,n\nOslo,1\nBern,2\nOslo,3\n"), 0o600))
	_, err := execute("", "query", file, "--output", out, "--to", "parquet", "--partition-by", "city", "--file-rows", "1", "--manifest", "_manifest.json", "--device", "host")
	require.NoError(t, err)
	text, err := execute("", "query", out, "--from", "parquet", "--sort", "n", "--select", "city, n", "--to", "csv", "--device", "host")
	require.NoError(t, err)
	require.Equal(t, "city,n\nOslo,1\nBern,2\nOslo,3\n", text)
	for want, flags := range map[string][]string{
		"the folder has files":          {"--to", "csv", "--output", out, "--partition-by", "city"},
		"raise --most-files":            {"--to", "csv", "--output", out, "--partition-by", "n", "--most-files", "1", "--existing", "append"},
		"expected a size such as 128MB": {"--to", "csv", "--output", out, "--file-bytes", "many"},
		"give --output and --to":        {"--to", "csv", "--partition-by", "city"},
		`choice about existing files`:   {"--to", "csv", "--output", out, "--existing", "never"},
	} {
		_, err := execute("", append([]string{"query", file, "--device", "host"}, flags...)...)
		require.Error(t, err)
		require.Contains(t, message(err), want)
	}
}
