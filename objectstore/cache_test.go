package objectstore_test

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/testing/objecttest"
	"github.com/gpuframe/gpuframe/objectstore"
)

// located is a store with an endpoint.
type located struct {
	*objecttest.Memory
	location string
}

func (s located) Location() string { return s.location }

// versioned is a store with its own ETag.
type versioned struct {
	*objecttest.Memory
	etag string
}

func (s versioned) ReadRange(ctx context.Context, object objectstore.Object, into []byte, offset int64) error {
	about, err := s.Memory.Stat(ctx, object.Name)
	if err != nil {
		return err
	}
	return s.Memory.ReadRange(ctx, about, into, offset)
}

func (s versioned) Stat(ctx context.Context, name string) (objectstore.Object, error) {
	about, err := s.Memory.Stat(ctx, name)
	about.ETag = s.etag
	return about, err
}

// readWhole reads an object twice, and returns the requests of both and the bytes of the second one from the cache.
func readWhole(t *testing.T, store objectstore.Store, memory *objecttest.Memory, name, want string) (requests, cached int64) {
	t.Helper()
	about, err := store.Stat(t.Context(), name)
	require.NoError(t, err)
	var tally objectstore.Tally
	before := memory.Requests.Load()
	for range 2 {
		tally = objectstore.Tally{}
		into := make([]byte, about.Size)
		require.NoError(t, store.ReadRange(objectstore.WithTally(t.Context(), &tally), about, into, 0))
		require.Equal(t, want, string(into))
	}
	require.NoError(t, tally.CacheFailure())
	return memory.Requests.Load() - before, tally.CachedBytes.Load()
}

func newCache(t *testing.T) (cache *objectstore.Cache, directory string) {
	t.Helper()
	directory = filepath.Join(t.TempDir(), "cache")
	cache, err := objectstore.NewCache(directory, 1<<20)
	require.NoError(t, err)
	return cache, directory
}

func TestCache(t *testing.T) {
	cache, directory := newCache(t)
	var memory objecttest.Memory
	const name = "mem://user:secret@bucket/a"
	memory.Set(name, []byte("contents 1"))
	store := objectstore.WithCache(&memory, cache)
	requests, cached := readWhole(t, store, &memory, name, "contents 1")
	require.EqualValues(t, 1, requests)
	require.EqualValues(t, 10, cached)
	requests, _ = readWhole(t, objectstore.WithRetry(store, objectstore.Retry{Attempts: 1}), &memory, name, "contents 1")
	require.Zero(t, requests, "another Retry, the same cache")
	memory.Set(name, []byte("contents 2"))
	requests, _ = readWhole(t, store, &memory, name, "contents 2")
	require.EqualValues(t, 1, requests, "a changed object")
	require.NoError(t, filepath.WalkDir(directory, func(path string, entry fs.DirEntry, err error) error {
		require.NoError(t, err)
		require.NotContains(t, path, "secret")
		if !entry.IsDir() {
			contents, err := os.ReadFile(path)
			require.NoError(t, err)
			require.False(t, bytes.Contains(contents, []byte("secret")))
		}
		return nil
	}))
	_, err := objectstore.NewCache("", 1)
	require.Error(t, err)
}

// Objects without a version, or with one of contents that are only alike, are not kept.
func TestCacheNeedsVersions(t *testing.T) {
	cache, directory := newCache(t)
	var memory objecttest.Memory
	memory.Set("mem://bucket/a", []byte("contents"))
	for _, etag := range []string{"", `W/"1"`} {
		requests, _ := readWhole(t, objectstore.WithCache(versioned{&memory, etag}, cache), &memory, "mem://bucket/a", "contents")
		require.EqualValues(t, 2, requests)
	}
	require.NoDirExists(t, directory)
}

// Signatures change, and the object stays the same. Other parameters name objects.
func TestCacheOfURLs(t *testing.T) {
	cache, _ := newCache(t)
	var memory objecttest.Memory
	store := objectstore.WithCache(versioned{&memory, "1"}, cache)
	for _, test := range []struct {
		name     string
		contents string
		requests int64
	}{
		{"https://host/a?X-Amz-Signature=1&X-Amz-Date=1&id=5", "contents 5", 1},
		{"https://host/a?id=5&X-Amz-Signature=2&X-Amz-Date=2", "contents 5", 0},
		{"https://user:secret@host/a?id=5&sig=1&sv=3&se=2", "contents 5", 0},
		{"https://host/a?id=6&sig=1&SV=3", "contents 6", 1},
		{"https://host/b?id=5", "contents 7", 1},
		{"https://host/a?id=5&Signature=1&Expires=2&AWSAccessKeyId=3", "contents 5", 0},
		{"https://host/a?id=5&Signature=1&Policy=2&Key-Pair-Id=3", "contents 5", 0},
		{"https://host/get?key=a", "contents of a", 1},
		{"https://host/get?key=b", "contents of b", 1},
		{"https://host/get?token=a", "contents of token a", 1},
		{"https://host/get?policy=a&sig=1", "contents of policy a", 1},
		{"https://host/get?policy=b&sig=1", "contents of policy b", 1},
		{"https://host/get?file=a;v=1", "contents of file a", 1},
		{"https://host/get?file=b;v=1", "contents of file b", 1},
		{"s3://bucket/a?id=5&sig=1", "contents 8", 1},
		{"s3://bucket/a?id=5&sig=2", "contents 9", 1},
	} {
		memory.Set(test.name, []byte(test.contents))
		requests, _ := readWhole(t, store, &memory, test.name, test.contents)
		require.Equal(t, test.requests, requests, test.name)
	}
}

// Stores with equal URLs differ by their endpoints. The cache of the process is that of stores of schemes, and of stores with an endpoint.
func TestSharedCache(t *testing.T) {
	directory := filepath.Join(t.TempDir(), "cache")
	t.Setenv(objectstore.CacheVariable, directory)
	var memory objecttest.Memory
	memory.Set("test-cached://bucket/a", []byte("contents"))
	require.NoError(t, objectstore.Register("test-cached", func() (objectstore.Store, error) { return &memory, nil }))
	t.Setenv(objectstore.CacheSizeVariable, "many")
	_, err := objectstore.Open("test-cached://bucket/a")
	require.ErrorContains(t, err, "GPUFRAME_OBJECT_CACHE_SIZE")
	t.Setenv(objectstore.CacheSizeVariable, "1MB")
	registered, err := objectstore.Open("test-cached://bucket/a")
	require.NoError(t, err)
	for _, test := range []struct {
		store    objectstore.Store
		requests int64
	}{
		{registered, 1}, {registered, 0},
		{objectstore.EnsureRetry(&memory), 2},
		{objectstore.EnsureRetry(located{&memory, "here"}), 1},
		{objectstore.EnsureRetry(located{&memory, "there"}), 1},
		{objectstore.EnsureRetry(located{&memory, "here"}), 0},
	} {
		requests, _ := readWhole(t, test.store, &memory, "test-cached://bucket/a", "contents")
		require.Equal(t, test.requests, requests)
	}
	defer objectstore.ResetCache()
	objectstore.SetCache(nil)
	requests, _ := readWhole(t, registered, &memory, "test-cached://bucket/a", "contents")
	require.EqualValues(t, 2, requests)
	cache, _ := newCache(t)
	objectstore.SetCache(cache)
	requests, _ = readWhole(t, registered, &memory, "test-cached://bucket/a", "contents")
	require.EqualValues(t, 1, requests)
}

// An error of the disk fails no read, and one of them reports it.
func TestCacheFailure(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	cache, err := objectstore.NewCache(filepath.Join(file, "cache"), 0)
	require.NoError(t, err)
	var memory objecttest.Memory
	memory.Set("mem://bucket/a", []byte(strings.Repeat("x", 100)))
	store := objectstore.WithCache(&memory, cache)
	about, err := store.Stat(t.Context(), "mem://bucket/a")
	require.NoError(t, err)
	failures := 0
	for range 3 {
		var tally objectstore.Tally
		require.NoError(t, store.ReadRange(objectstore.WithTally(t.Context(), &tally), about, make([]byte, 100), 0))
		if tally.CacheFailure() != nil {
			failures++
		}
		require.Zero(t, tally.CachedBytes.Load())
	}
	require.Equal(t, 1, failures)
}
