package command

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCharts(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "rows.csv")
	require.NoError(t, os.WriteFile(file, []byte("site,day,value\na,2026-01-01,1\nb,2026-01-02,2.5\na,2026-01-03,-1\n"), 0o600))
	for name, test := range map[string]struct {
		arguments []string
		want      string
	}{
		"bars.svg":      {[]string{"-p", "group by site agg count(*) as n"}, "<rect "},
		"line.html":     {[]string{"-p", "select day, value, site", "--draw", "line day value site", "--title", "Sites"}, "<title>Sites</title>"},
		"points.json":   {[]string{"-p", "select day, value", "--draw", "points day value"}, `"type":"point"`},
		"lines.json":    {[]string{"-p", "select day, value"}, `"type":"line"`},
		"rows.json":     {[]string{"-p", "select value"}, `"bin":{"binned":true`},
		"blanks.json":   {[]string{"-p", "select site as `the site`, value", "--draw", `bar  "the site" value`}, `"the site"`},
		"rows too.json": {[]string{"-p", "head 10", "--draw", "histogram value"}, `"bin":{"binned":true`},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(folder, name)
			output, _, err := command(t.Context(), append([]string{"query", file, "--device", "host", "--chart", path}, test.arguments...)...)
			require.NoError(t, err)
			require.Empty(t, output)
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Contains(t, string(text), test.want)
			require.Equal(t, filepath.Ext(name) == ".json", json.Valid(text))
		})
	}
	for want, arguments := range map[string][]string{
		"give its file with --chart":                 {"--draw", "line day value"},
		"leave out --output and --to":                {"--chart", "x.svg", "-o", "x.csv"},
		`the extension is ".png", expected .html`:    {"--chart", "x.png"},
		`no chart is called "pie"`:                   {"--chart", "x.svg", "--draw", "pie day value"},
		`no chart is called ""`:                      {"--chart", "x.svg", "--draw", " "},
		"has 1 columns, expected 2 to 3":             {"--chart", "x.svg", "--draw", "line day"},
		"has 2 columns, expected 1 to 1":             {"--chart", "x.svg", "--draw", "histogram day value"},
		`no column is called "dy"`:                   {"--chart", "x.svg", "--draw", "line dy value"},
		`column "site" of the vertical axis is utf8`: {"--chart", "x.svg", "--draw", "line day site"},
	} {
		_, _, err := command(t.Context(), append([]string{"query", file, "--device", "host", "-p", "head 5"}, arguments...)...)
		require.ErrorContains(t, err, want)
	}
	_, err := os.Stat("x.svg")
	require.Error(t, err, "a failed command writes no file")
	for want, arguments := range map[string][]string{
		"the result has no columns":   {file, "--chart", "x.svg", "-p", "drop site, day, value"},
		`the extension is ".png"`:     {"missing.csv", "--chart", "x.png"},
		`no chart is called "pie"`:    {"missing.csv", "--chart", "x.svg", "--draw", "pie a b"},
		`expected names that are div`: {file, "--chart", "x.svg", "--draw", `line "a b`},
	} {
		_, _, err := command(t.Context(), append([]string{"query", "--device", "host"}, arguments...)...)
		require.ErrorContains(t, err, want)
	}
}

func TestDescribeDrawsHistograms(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rows.csv")
	require.NoError(t, os.WriteFile(file, []byte("x,text\n1,a\n2,b\n2,c\n9,d\n"), 0o600))
	output, _, err := command(t.Context(), "describe", file, "--device", "host", "--histogram")
	require.NoError(t, err)
	require.Contains(t, output, "x  1  to 9.5  by 0.5  ▅ █")
	require.NotContains(t, output, "text  ")
}
