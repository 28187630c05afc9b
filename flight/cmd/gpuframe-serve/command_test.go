package main

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

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
	for path, allowed := range map[string]bool{csv: true, filepath.Dir(csv) + "/*.csv": true, "/etc/passwd": false, "/*/*/*": false, "*": false, filepath.Dir(csv) + "/../../x.csv": false} {
		_, err := client.Explain(t.Context(), []byte(`{"version": 1, "steps": [{"verb": "csv", "paths": ["`+path+`"]}]}`))
		if allowed {
			require.NoError(t, err, path)
		} else {
			require.ErrorContains(t, err, "not below a folder", path)
		}
	}
	cancel()
	require.NoError(t, <-served)
}

// TestLinks refuses links to files outside of the folder, also as files of patterns and of folders,
// and reads links to files within it.
func TestLinks(t *testing.T) {
	outside, root := t.TempDir(), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(outside, "secret.csv"), []byte("secret\n42\n"), 0o600))
	for _, folder := range []string{"links", "inside", "deep/below", "odd"} {
		require.NoError(t, os.MkdirAll(filepath.Join(root, folder), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(root, folder, "a.csv"), []byte("n\n1\n"), 0o600))
	}
	link := func(to, name string) { require.NoError(t, os.Symlink(to, filepath.Join(root, name))) }
	link(filepath.Join(outside, "secret.csv"), "links/link.csv")
	link(outside, "deep/below/folder")
	link(filepath.Join(outside, "secret.csv"), "odd/[a].csv")
	link("a.csv", "inside/link.csv")
	list, err := openFolders([]string{root})
	require.NoError(t, err)
	real, err := filepath.EvalSymlinks(root)
	require.NoError(t, err)
	for path, allowed := range map[string]bool{
		root + "/links/link.csv": false, root + "/links/*.csv": false, root + "/links": false, root: false, root + "/links/a.csv": true, root + "/*/a.csv": true,
		root + "/deep": false, root + "/deep/below/folder/secret.csv": false, root + "/deep/below/a.csv": true, root + "/odd/[a].csv": false,
		root + "/inside": true, root + "/inside/link.csv": true, real + "/inside/*.csv": true, root + "/inside/../links/a.csv": false,
		root + "/none.csv": false, root + "x/a.csv": false, outside: false, "": false, "http://" + root: false,
	} {
		err := list.check([]string{path})
		require.Equal(t, allowed, err == nil, "%s: %v", path, err)
	}
}

func TestRefused(t *testing.T) {
	for text, f := range map[string]flags{
		"expected NAME=PATH":                 {tables: []string{"a"}},
		"is not that of a format":            {tables: []string{"a=b.exe"}},
		"can be reached from other machines": {listen: ":0"},
		"are given together":                 {key: "x"},
		"lists no client":                    {clients: write(t, "clients.json", "[]")},
		"clients.json: unexpected EOF":       {clients: write(t, "clients.json", "[")},
		`client "a": strconv`:                {clients: write(t, "clients.json", `[{"name": "a", "budget": "x"}]`)},
		`unknown field "budgt"`:              {clients: write(t, "clients.json", `[{"name": "a", "token": "b", "budgt": "1MiB"}]`)},
		"--budget: strconv":                  {budget: "much"},
		"--files: open":                      {files: []string{"/nowhere"}},
		"no name or no token":                {clients: write(t, "clients.json", `[{"name": "a"}]`)},
	} {
		if f.listen == "" {
			f.listen = "127.0.0.1:0"
		}
		f.device = "host"
		require.ErrorContains(t, f.serve(t.Context(), func(net.Addr) {}), text)
	}
}
