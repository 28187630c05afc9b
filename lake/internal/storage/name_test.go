package storage_test

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/lake/internal/storage"
)

// URLs of files are paths of this machine, or errors.
func TestNames(t *testing.T) {
	for name, want := range map[string]string{
		"file:/a/b": "/a/b", "file:///a/b": "/a/b", "file://localhost/a/b": "/a/b", "file:////a": "/a", "/a": "/a", "a/b": "a/b",
		"s3a://b/k": "s3://b/k", "s3n://b/k": "s3://b/k", "s3://b/k": "s3://b/k", "file://host/a": "", "file://host": "", "file://LOCALHOST.example/a": "",
	} {
		got, err := storage.Name(name)
		if want == "" {
			require.ErrorContains(t, err, "is a file of the machine", name)
			continue
		}
		require.NoError(t, err, name)
		require.Equal(t, want, got)
		resolved, err := storage.Resolve("root", name)
		require.NoError(t, err)
		if want != "a/b" {
			require.Equal(t, want, resolved)
		}
	}
	_, err := storage.Resolve("root", "file://host/a%20b")
	require.ErrorContains(t, err, `the machine "host"`)
	_, err = storage.Resolve("root", "file:///a%2")
	require.ErrorContains(t, err, "is no URI")
}

// In a file system the host of a URL is a folder.
func TestNamesOfAFileSystem(t *testing.T) {
	s := storage.Storage{System: fstest.MapFS{}}
	for name, want := range map[string]string{"file://host/t": "/host/t", "file:///t": "/t", "t": "t", "s3a://b/k": "s3://b/k"} {
		got, err := s.Name(name)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	_, err := storage.Storage{}.Name("file://host/t")
	require.ErrorContains(t, err, "is a file of the machine")
}
