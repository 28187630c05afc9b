package storage_test

import (
	"testing"

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
