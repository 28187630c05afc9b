package objecttest

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/objectstore"
)

// Conforms tests a store that reads, lists and writes objects. The prefix, which ends in a slash, has none.
func Conforms(t *testing.T, store objectstore.Store, prefix string) {
	t.Run("ranges", func(t *testing.T) { testRanges(t, store, prefix+"ranges") })
	t.Run("changes", func(t *testing.T) { testChanges(t, store, prefix+"changes") })
	t.Run("absent", func(t *testing.T) { testAbsent(t, store, prefix) })
	t.Run("names", func(t *testing.T) { testNames(t, store, prefix+"names/") })
	t.Run("uploads", func(t *testing.T) { testUploads(t, store, prefix+"uploads/") })
	t.Run("removed", func(t *testing.T) { testRemoved(t, store, prefix+"k=%20/removed") })
	t.Run("exclusive", func(t *testing.T) { testExclusive(t, store, prefix+"exclusive") })
	t.Run("cancelled", func(t *testing.T) { testCancelled(t, store, prefix+"cancelled") })
}

func randomBytes(t testing.TB, length int) []byte {
	random, contents := property.Random(t), make([]byte, length)
	for i := range contents {
		contents[i] = byte(random.Uint32())
	}
	return contents
}

func testRanges(t *testing.T, store objectstore.Store, name string) {
	random, contents := property.Random(t), randomBytes(t, 1<<20)
	require.NoError(t, store.Put(t.Context(), name, contents))
	object, err := store.Stat(t.Context(), name)
	require.NoError(t, err)
	assert.Equal(t, name, object.Name)
	assert.EqualValues(t, len(contents), object.Size)
	assert.NotEmpty(t, object.ETag)
	require.NoError(t, store.ReadRange(t.Context(), object, nil, 0))
	var reading sync.WaitGroup
	for range 64 {
		offset := random.Int64N(object.Size)
		part := make([]byte, 1+random.Int64N(object.Size-offset))
		reading.Go(func() {
			if assert.NoError(t, store.ReadRange(t.Context(), object, part, offset)) {
				assert.True(t, bytes.Equal(contents[offset:offset+int64(len(part))], part), "%d bytes from byte %d on", len(part), offset)
			}
		})
	}
	reading.Wait()
	require.NoError(t, store.Put(t.Context(), name+"-empty", nil))
	object, err = store.Stat(t.Context(), name+"-empty")
	require.NoError(t, err)
	assert.Zero(t, object.Size)
}

// testChanges tests that the versions of Stat and List are the same, and that another one is an error.
func testChanges(t *testing.T, store objectstore.Store, name string) {
	require.NoError(t, store.Put(t.Context(), name, []byte("0123456789")))
	object, err := store.Stat(t.Context(), name)
	require.NoError(t, err)
	page, next, err := store.List(t.Context(), name, "")
	require.NoError(t, err)
	assert.Empty(t, next)
	require.Len(t, page, 1)
	assert.Equal(t, object.ETag, page[0].ETag)
	require.NoError(t, store.ReadRange(t.Context(), page[0], make([]byte, 10), 0))
	require.NoError(t, store.Put(t.Context(), name, []byte("abcdefghij")))
	for _, old := range []objectstore.Object{object, page[0]} {
		err = store.ReadRange(t.Context(), old, make([]byte, 4), 2)
		require.ErrorIs(t, err, objectstore.ErrChanged)
		checkError(t, err, "read", name)
	}
}

func checkError(t *testing.T, err error, operation, name string) {
	var failed *objectstore.Error
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, operation, failed.Operation)
	assert.Equal(t, name, failed.URL)
}

func testAbsent(t *testing.T, store objectstore.Store, prefix string) {
	_, err := store.Stat(t.Context(), prefix+"absent")
	require.ErrorIs(t, err, fs.ErrNotExist)
	checkError(t, err, "stat", prefix+"absent")
	err = store.ReadRange(t.Context(), objectstore.Object{Name: prefix + "absent", Size: 10}, make([]byte, 4), 2)
	require.ErrorIs(t, err, fs.ErrNotExist)
	checkError(t, err, "read", prefix+"absent")
	page, next, err := store.List(t.Context(), prefix+"absent/", "")
	require.NoError(t, err)
	assert.Empty(t, page)
	assert.Empty(t, next)
}

// testNames lists names with unusual characters, over several pages.
func testNames(t *testing.T, store objectstore.Store, prefix string) {
	var names []string
	for _, name := range []string{"a b", "a+b", "a%20b", "ä/ö.parquet", "k=1/v=x y/a.parquet", "k=2/a.parquet", "q?x", "h#x", "[x]", "&", "'"} {
		names = append(names, prefix+name)
	}
	slices.Sort(names)
	for _, name := range names {
		require.NoError(t, store.Put(t.Context(), name, []byte(name)))
	}
	var listed []string
	for token := ""; ; {
		page, next, err := store.List(t.Context(), prefix, token)
		require.NoError(t, err)
		for _, object := range page {
			listed = append(listed, object.Name)
			contents := make([]byte, object.Size)
			require.NoError(t, store.ReadRange(t.Context(), object, contents, 0), object.Name)
			assert.Equal(t, object.Name, string(contents))
		}
		if token = next; token == "" {
			break
		}
	}
	assert.Equal(t, names, listed)
}

// testUploads writes objects by parts, in any order and again.
func testUploads(t *testing.T, store objectstore.Store, prefix string) {
	contents := randomBytes(t, 2*objectstore.PartBytes+100)
	for _, commit := range []bool{false, true} {
		u, err := store.Create(t.Context(), prefix+"a")
		require.NoError(t, err)
		var writing sync.WaitGroup
		for number := range 3 {
			part := contents[number*objectstore.PartBytes : min((number+1)*objectstore.PartBytes, len(contents))]
			writing.Go(func() { assert.NoError(t, u.WritePart(t.Context(), number, part)) })
		}
		writing.Wait()
		_, err = store.Stat(t.Context(), prefix+"a")
		require.ErrorIs(t, err, fs.ErrNotExist, "it appears with Commit")
		if !commit {
			require.NoError(t, u.Abort(t.Context()))
			continue
		}
		require.NoError(t, u.WritePart(t.Context(), 1, contents[objectstore.PartBytes:2*objectstore.PartBytes]))
		require.NoError(t, u.Commit(t.Context(), 3))
	}
	object, err := store.Stat(t.Context(), prefix+"a")
	require.NoError(t, err)
	read := make([]byte, object.Size)
	require.NoError(t, store.ReadRange(t.Context(), object, read, 0))
	assert.True(t, bytes.Equal(contents, read))
}

// testRemoved removes objects, also such that are not there.
func testRemoved(t *testing.T, store objectstore.Store, name string) {
	deleter, ok := objectstore.DeleterOf(store)
	require.True(t, ok)
	require.NoError(t, store.Put(t.Context(), name, []byte("contents")))
	for range 2 {
		require.NoError(t, deleter.Delete(t.Context(), name))
		_, err := store.Stat(t.Context(), name)
		require.ErrorIs(t, err, fs.ErrNotExist)
	}
}

// testExclusive writes an object that exists, if the store has conditional writes.
func testExclusive(t *testing.T, store objectstore.Store, name string) {
	exclusive, ok := objectstore.ExclusiveOf(store)
	if !ok {
		t.Skip("the store has no conditional writes")
	}
	require.NoError(t, exclusive.PutNew(t.Context(), name, []byte("first")))
	err := exclusive.PutNew(t.Context(), name, []byte("second"))
	require.ErrorIs(t, err, fs.ErrExist)
	checkError(t, err, "write", name)
	object, err := store.Stat(t.Context(), name)
	require.NoError(t, err)
	contents := make([]byte, object.Size)
	require.NoError(t, store.ReadRange(t.Context(), object, contents, 0))
	require.Equal(t, "first", string(contents))
	require.NoError(t, store.Put(t.Context(), name, []byte("third")))
}

func testCancelled(t *testing.T, store objectstore.Store, name string) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	_, err := store.Stat(ctx, name)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, store.ReadRange(ctx, objectstore.Object{Name: name, Size: 10}, make([]byte, 4), 2), context.Canceled)
	_, _, err = store.List(ctx, name, "")
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, store.Put(ctx, name, nil), context.Canceled, fmt.Sprint(name))
}
