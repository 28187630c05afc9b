package main

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/flight"
)

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestServe(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	csv := write(t, "numbers.csv", "n\n1\n2\n3\n")
	f := flags{
		listen: "127.0.0.1:0", device: "host", budget: "64MiB", tables: []string{"numbers=" + csv}, files: []string{filepath.Dir(csv)},
		clients: write(t, "clients.json", `[{"name": "one", "token": "secret", "budget": "1MiB"}]`),
	}
	addresses, served := make(chan net.Addr, 1), make(chan error, 1)
	go func() { served <- f.serve(ctx, func(address net.Addr) { addresses <- address }) }()
	client, err := flight.Dial((<-addresses).String(), flight.DialOptions{Token: "secret"})
	require.NoError(t, err)
	defer client.Close()
	reader, err := client.Read(t.Context(), "numbers")
	require.NoError(t, err)
	require.True(t, reader.Next())
	require.EqualValues(t, 3, reader.Record().NumRows())
	require.False(t, reader.Next())
	reader.Release()
	for path, want := range map[string]string{
		csv: "", filepath.Dir(csv) + "/*.csv": "", "/etc/passwd": "not below a folder", "/*/*/*": "not exist", "*": "not exist", filepath.Dir(csv) + "/../../x.csv": "not below a folder",
	} {
		_, err := client.Explain(t.Context(), []byte(`{"version": 1, "steps": [{"verb": "csv", "paths": ["`+path+`"]}]}`))
		if want == "" {
			require.NoError(t, err, path)
		} else {
			require.ErrorContains(t, err, want, path)
		}
	}
	cancel()
	require.NoError(t, <-served)
}

// TestLinks refuses links to files outside of the folder, also as files of patterns and of folders,
// and reads links to files within it.
// TestLinks opens names below folders. Links that lead outside are not followed, also if they are made
// after the query was checked.
func TestLinks(t *testing.T) {
	outside, root := t.TempDir(), t.TempDir()
	e, err := gpuframe.Open(gpuframe.Device("host"))
	require.NoError(t, err)
	defer func() { require.NoError(t, e.Close()) }()
	rows := gpuframe.From(e, []struct{ N int64 }{{1}, {2}})
	formats := map[string]gpuframe.Format{"csv": gpuframe.CSV(), "jsonl": gpuframe.JSONLines(), "arrow": gpuframe.IPC(), "parquet": gpuframe.Parquet()}
	for extension, format := range formats {
		for _, folder := range []string{root, outside} {
			_, err := rows.WriteFile(t.Context(), filepath.Join(folder, "a."+extension), format)
			require.NoError(t, err)
		}
	}
	require.NoError(t, os.Symlink("a.csv", filepath.Join(root, "inside.csv")))
	require.NoError(t, os.Symlink(filepath.Join(outside, "a.csv"), filepath.Join(root, "link.csv")))
	require.NoError(t, os.Symlink(outside, filepath.Join(root, "folder")))
	list, err := openFolders([]string{root})
	require.NoError(t, err)
	files := e.Files(list)
	for path, want := range map[string]string{
		root + "/a.csv": "", root + "/inside.csv": "", root + "/i*.csv": "", root + "/./a.csv": "",
		root + "/link.csv": "escapes", root + "/l*.csv": "escapes", root + "/folder/a.csv": "escapes", root + "/folder": "escapes", root + "/none.csv": "no such file",
		root + "/../" + filepath.Base(outside) + "/a.csv": "not below a folder", outside: "not below a folder", root + "x/a.csv": "not below a folder",
		"": "not below a folder", "a.csv": "not below a folder", "http://" + root: "not below a folder", "/*/*/*": "not exist",
	} {
		_, err := files.CSV(gpuframe.CSVOptions{}, path).Schema(t.Context())
		if want == "" {
			require.NoError(t, err, path)
		} else {
			require.ErrorContains(t, err, want, path)
		}
	}
	for extension := range formats {
		path := filepath.Join(root, "a."+extension)
		q := map[string]func() gpuframe.Query{
			"csv":   func() gpuframe.Query { return files.CSV(gpuframe.CSVOptions{}, path) },
			"jsonl": func() gpuframe.Query { return files.JSON(gpuframe.JSONOptions{}, path) },
			"arrow": func() gpuframe.Query { return files.IPC(path) }, "parquet": func() gpuframe.Query { return files.Parquet(path) },
		}[extension]()
		f, err := q.Collect(t.Context())
		require.NoError(t, err)
		require.NoError(t, f.Release())
		require.NoError(t, os.Remove(path))
		require.NoError(t, os.Symlink(filepath.Join(outside, "a."+extension), path))
		_, err = q.Collect(t.Context())
		require.ErrorContains(t, err, "escapes", extension)
	}
}

func TestRefused(t *testing.T) {
	for text, f := range map[string]flags{
		"expected NAME=PATH":                                 {tables: []string{"a"}},
		"is not that of a format":                            {tables: []string{"a=b.exe"}},
		"can be reached from other machines":                 {listen: ":0"},
		"are given together":                                 {key: "x"},
		"lists no client":                                    {clients: write(t, "clients.json", "[]")},
		"clients.json: unexpected EOF":                       {clients: write(t, "clients.json", "[")},
		`client "a": budget "x": expected a number of bytes`: {clients: write(t, "clients.json", `[{"name": "a", "budget": "x"}]`)},
		`unknown field "budgt"`:                              {clients: write(t, "clients.json", `[{"name": "a", "token": "b", "budgt": "1MiB"}]`)},
		`--budget "much": expected a number`:                 {budget: "much"},
		`--budget "nan": expected a number`:                  {budget: "nan"},
		`--budget "-1": expected a number`:                   {budget: "-1"},
		"--drain -1s: expected 0s or more":                   {drain: -time.Second},
		"--files: open":                                      {files: []string{"/nowhere"}},
		"no name or no token":                                {clients: write(t, "clients.json", `[{"name": "a"}]`)},
	} {
		if f.listen == "" {
			f.listen = "127.0.0.1:0"
		}
		f.device = "host"
		require.ErrorContains(t, f.serve(t.Context(), func(net.Addr) {}), text)
	}
}
