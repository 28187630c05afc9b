package sink_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/io/sink"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/objecttest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/objectstore"
)

// New files are on the disk before those that they replace are touched, and hidden files that stay are no error.
func TestFolderOrder(t *testing.T) {
	record := folderRecord(property.Random(t), 20, []string{"a"})
	folder := filepath.Join(t.TempDir(), "out")
	options := sink.FolderOptions{Manifest: "_manifest.json"}
	_, err := toFolder(t, folder, record, folderFormats["csv"].format, options)
	require.NoError(t, err)
	var calls []string
	options.Existing = sink.Overwrite
	reset := sink.SetSystem(func(call string) error {
		calls = append(calls, call)
		if call == "remove" {
			return errors.New("the folder is in use")
		}
		return nil
	})
	_, err = toFolder(t, folder, record, folderFormats["csv"].format, options)
	reset()
	require.NoError(t, err)
	const file = "create write sync close "
	require.Equal(t, "mkdir "+file+file+"rename sync rename "+file+"rename sync remove", strings.Join(slices.Compact(calls), " "))
	require.Len(t, rowTexts(readFolder(t, folder, "csv"), "id"), 20)
}

// The manifest in the folder lists its files after every write, and without one to add to a write is refused.
func TestManifestOfFolder(t *testing.T) {
	random := property.Random(t)
	folder := filepath.Join(t.TempDir(), "out")
	options := sink.FolderOptions{PartitionBy: []string{"city"}, Manifest: "_manifest.json", FileRows: 10}
	for step, existing := range []sink.Existing{sink.Refuse, sink.Append, sink.OverwritePartitions, sink.Append, sink.OverwritePartitions, sink.Overwrite, sink.Append} {
		options.Existing = existing
		cities := []string{"a", "b/c", "d e"}
		if existing == sink.OverwritePartitions {
			cities = cities[1:]
		}
		written, err := toFolder(t, folder, folderRecord(random, 60, cities), folderFormats["csv"].format, options)
		require.NoError(t, err)
		require.EqualValues(t, 60, written.Rows, "the result is that of the write")
		listed := manifestOf(t, folder)
		checkManifest(t, folder, listed, sink.FolderOptions{})
		require.Len(t, rowTexts(readFolder(t, folder, "csv"), "id"), int(listed.Rows), step)
	}
	for text, contents := range map[string]string{"no list of files in JSON": "{", "no manifest": ""} {
		name := filepath.Join(folder, options.Manifest)
		require.NoError(t, os.Remove(name))
		if contents != "" {
			require.NoError(t, os.WriteFile(name, []byte(contents), 0o666))
		}
		before := filesBelow(t, folder)
		for _, existing := range []sink.Existing{sink.OverwritePartitions, sink.Append} {
			options.Existing = existing
			_, err := toFolder(t, folder, folderRecord(random, 5, []string{"a"}), folderFormats["csv"].format, options)
			require.ErrorIs(t, err, sink.ErrArgument)
			require.ErrorContains(t, err, text)
		}
		require.Equal(t, before, filesBelow(t, folder))
		require.NoError(t, os.WriteFile(name, nil, 0o666))
	}
}

// lossyStore carries out writes of the manifest and loses their answers, and does not remove some objects.
type lossyStore struct {
	*objecttest.Memory
	lost, kept string
}

func (l *lossyStore) Put(ctx context.Context, name string, contents []byte) error {
	err := l.Memory.Put(ctx, name, contents)
	if l.lost != "" && strings.HasSuffix(name, l.lost) {
		l.lost = ""
		return fmt.Errorf("the answer is lost: %w", fs.ErrInvalid)
	}
	return err
}

func (l *lossyStore) Delete(ctx context.Context, name string) error {
	if l.kept != "" && strings.Contains(name, l.kept) {
		return fs.ErrPermission
	}
	return l.Memory.Delete(ctx, name)
}

// If the answer to the manifest is lost, the one before comes back. Objects that cannot be removed are in the error, the others
// are removed.
func TestLostManifest(t *testing.T) {
	store := &lossyStore{Memory: &objecttest.Memory{}}
	require.NoError(t, objectstore.Register("folder-lossy", func() (objectstore.Store, error) { return store, nil }))
	const folder = "folder-lossy://bucket/out"
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	record := folderRecord(property.Random(t), 200, []string{"a", "b"})
	write := func(existing sink.Existing) error {
		reader := readerOf(t, m, record.Schema(), []arrow.Record{record}, 64)
		defer func() { require.NoError(t, reader.Close()) }()
		_, err := sink.ToFolder(t.Context(), folder, folderFormats["csv"].format, sink.FolderOptions{PartitionBy: []string{"city"}, FileRows: 4, Manifest: "_manifest.json", Existing: existing}, reader)
		return err
	}
	store.lost = "_manifest.json"
	require.ErrorIs(t, write(sink.Refuse), fs.ErrInvalid)
	require.Empty(t, store.Names())
	require.NoError(t, write(sink.Refuse))
	before, manifest := store.Names(), store.Get(folder+"/_manifest.json")
	store.lost = "_manifest.json"
	require.ErrorIs(t, write(sink.Append), fs.ErrInvalid)
	require.Equal(t, before, store.Names())
	require.Equal(t, manifest, store.Get(folder+"/_manifest.json"))
	store.lost, store.kept = "_manifest.json", "city=a"
	err := write(sink.Append)
	require.ErrorIs(t, err, fs.ErrPermission)
	remaining := 0
	for _, name := range store.Names() {
		if !slices.Contains(before, name) {
			require.Contains(t, name, "city=a")
			remaining++
		}
	}
	require.Greater(t, remaining, 3)
	require.ErrorContains(t, err, fmt.Sprintf("objects remain, %d (city=a/part-", remaining))
	require.Equal(t, manifest, store.Get(folder+"/_manifest.json"))
}
