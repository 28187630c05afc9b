package storage_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/testing/objecttest"
	"github.com/gpuframe/gpuframe/lake/internal/storage"
	"github.com/gpuframe/gpuframe/objectstore"
)

// The same files are read from the machine, a file system and a store.
func TestStorage(t *testing.T) {
	folder, memory := t.TempDir(), &objecttest.Memory{}
	require.NoError(t, os.Mkdir(filepath.Join(folder, "below"), 0o777))
	for _, name := range []string{"a", "b", "below/c"} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte("0123456789"), 0o666))
		memory.Set("mem://b/t/"+name, []byte("0123456789"))
	}
	for name, each := range map[string]struct {
		from   storage.Storage
		folder string
	}{
		"machine": {storage.Storage{}, folder}, "URL": {storage.Storage{}, "file://" + folder},
		"system": {storage.Storage{System: os.DirFS(folder)}, "."}, "store": {storage.Storage{Store: memory}, "mem://b/t"},
	} {
		t.Run(name, func(t *testing.T) {
			entries, err := each.from.List(t.Context(), each.folder)
			require.NoError(t, err)
			require.Len(t, entries, 2)
			require.Equal(t, "a", entries[0].Name)
			require.EqualValues(t, 10, entries[0].Size)
			file := each.folder + "/a"
			if name == "system" {
				file = storage.Join(each.folder, "a")
			}
			data, err := each.from.Read(t.Context(), file, 10)
			require.NoError(t, err)
			require.Equal(t, "0123456789", string(data))
			data, err = each.from.ReadRange(t.Context(), file, 3, 4, 4)
			require.NoError(t, err)
			require.Equal(t, "3456", string(data))
			_, err = each.from.Read(t.Context(), file, 9)
			require.ErrorIs(t, err, storage.ErrLimit)
			for _, place := range [][2]int64{{8, 3}, {11, -1}, {-1, 2}, {11, 0}} {
				_, err = each.from.ReadRange(t.Context(), file, place[0], place[1], 100)
				require.ErrorIs(t, err, io.ErrUnexpectedEOF)
			}
			entry, err := each.from.Stat(t.Context(), file)
			require.NoError(t, err)
			require.EqualValues(t, 10, entry.Size)
			_, err = each.from.Stat(t.Context(), file+"x")
			require.ErrorIs(t, err, fs.ErrNotExist)
			_, err = each.from.Read(t.Context(), file+"x", 10)
			require.ErrorIs(t, err, fs.ErrNotExist)
		})
	}
	_, err := storage.Storage{}.Read(t.Context(), "unknown://b/t", 1)
	require.ErrorIs(t, err, objectstore.ErrScheme)
	stopped, stop := context.WithCancel(t.Context())
	stop()
	_, err = storage.Storage{}.Read(stopped, filepath.Join(folder, "a"), 10)
	require.ErrorIs(t, err, context.Canceled)
	_, err = storage.Storage{}.Stat(stopped, filepath.Join(folder, "a"))
	require.ErrorIs(t, err, context.Canceled)
}

func TestResolve(t *testing.T) {
	for uri, want := range map[string]string{
		"a%20b": "/t/a b", "x=1/a": "/t/x=1/a", "/r/a": "/r/a", "file:/r/a": "/r/a", "file:///r/a": "/r/a", "s3a://b/a": "s3://b/a", "gs://b/a%2B": "gs://b/a+",
	} {
		name, err := storage.Resolve("/t", uri)
		require.NoError(t, err)
		require.Equal(t, want, name)
	}
	for _, uri := range []string{"", "%zz", "s3://b/%zz"} {
		_, err := storage.Resolve("/t", uri)
		require.ErrorContains(t, err, "is no URI")
	}
}

// The first error ends the calls, and is the result.
func TestEach(t *testing.T) {
	var calls atomic.Int64
	require.NoError(t, storage.Each(t.Context(), 3, 100, func(context.Context, int) error { calls.Add(1); return nil }))
	require.EqualValues(t, 100, calls.Load())
	failure := errors.New("failure")
	require.ErrorIs(t, storage.Each(t.Context(), 1, 100, func(_ context.Context, i int) error {
		if i == 5 {
			return failure
		}
		require.Less(t, i, 7)
		return nil
	}), failure)
	require.NoError(t, storage.Each(t.Context(), 4, 0, nil))
}
