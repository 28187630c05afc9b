package iceberg_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/testing/objecttest"
	"github.com/gpuframe/gpuframe/lake/iceberg"
	"github.com/gpuframe/gpuframe/objectstore"
)

// withoutLists is a store that does not list.
type withoutLists struct{ objectstore.Store }

func (withoutLists) List(context.Context, string, string) ([]objectstore.Object, string, error) {
	return nil, "", errors.ErrUnsupported
}

// without is a store that does not read an object.
type without struct {
	objectstore.Store
	name string
}

func (s without) ReadRange(ctx context.Context, about objectstore.Object, data []byte, offset int64) error {
	if about.Name == s.name {
		return objectstore.ErrUnavailable
	}
	return s.Store.ReadRange(ctx, about, data, offset)
}

func compressed(t *testing.T, data []byte) []byte {
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	_, err := writer.Write(data)
	require.NoError(t, err)
	require.NoError(t, writer.Close())
	return packed.Bytes()
}

// The newest metadata are those of version-hint.text or later ones, or those with the greatest version.
func TestLocate(t *testing.T) {
	w := history(t) // versions 1 to 3
	snapshot := func() int64 {
		s, ok := w.open(iceberg.Options{}).Snapshot()
		require.True(t, ok)
		return s.ID
	}
	read := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join(w.root, "metadata", name))
		require.NoError(t, err)
		return data
	}
	remove := func(name string) { require.NoError(t, os.Remove(filepath.Join(w.root, "metadata", name))) }
	first, second, third := read("v1.metadata.json"), read("v2.metadata.json"), read("v3.metadata.json")
	require.EqualValues(t, 30, snapshot())
	w.file("metadata/version-hint.text", []byte("1\n"))
	require.EqualValues(t, 30, snapshot())
	remove("v3.metadata.json")
	require.EqualValues(t, 20, snapshot())
	w.file("metadata/v3.gz.metadata.json", compressed(t, third))
	require.EqualValues(t, 30, snapshot())
	w.file("metadata/version-hint.text", []byte("7"))
	w.fail(iceberg.Options{}, iceberg.ErrMetadata, "version-hint.text: it names \"7\", which is absent")
	w.file("metadata/version-hint.text", []byte("00007-x"))
	w.fail(iceberg.Options{}, iceberg.ErrMetadata, `it names "00007-x", which is absent`)
	w.file("metadata/00007-x.metadata.json", first)
	require.EqualValues(t, 10, snapshot())
	w.file("metadata/version-hint.text", []byte("../x"))
	w.fail(iceberg.Options{}, iceberg.ErrMetadata, "expected a version")
	remove("version-hint.text")
	w.fail(iceberg.Options{}, iceberg.ErrMetadata, "names of two kinds, such as v3.gz.metadata.json and 00007-x.metadata.json, so that the newest one is unknown: give the path of one")
	for _, name := range []string{"v1.metadata.json", "v2.metadata.json", "v3.gz.metadata.json"} {
		remove(name)
	}
	require.EqualValues(t, 10, snapshot())
	w.file("metadata/00012-y.metadata.json.gz", compressed(t, second))
	require.EqualValues(t, 20, snapshot())
	w.file("metadata/00012-z.metadata.json", first)
	w.fail(iceberg.Options{}, iceberg.ErrMetadata, "several files of metadata of version 12: 00012-y.metadata.json.gz, 00012-z.metadata.json: give the path of one")

	for name, id := range map[string]int64{"00012-y.metadata.json.gz": 20, "00007-x.metadata.json": 10} {
		table, err := iceberg.Open(t.Context(), filepath.Join(w.root, "metadata", name), iceberg.Options{})
		require.NoError(t, err)
		s, _ := table.Snapshot()
		require.Equal(t, id, s.ID)
	}
	_, err := iceberg.Open(t.Context(), "file://"+w.root+"/metadata/00007-x.metadata.json", iceberg.Options{})
	require.NoError(t, err)
	_, err = iceberg.Open(t.Context(), filepath.Join(w.root, "metadata/v9.metadata.json"), iceberg.Options{})
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = iceberg.Open(t.Context(), filepath.Join(w.root, "absent"), iceberg.Options{})
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = iceberg.Open(t.Context(), w.root+"/data", iceberg.Options{})
	require.ErrorIs(t, err, fs.ErrNotExist)
	w.file("other/metadata/readme.txt", nil)
	_, err = iceberg.Open(t.Context(), w.root+"/other", iceberg.Options{})
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorContains(t, err, "has no file of metadata")
}

// A table that was moved is read by paths relative to its old location. Absolute paths outside of it stay.
func TestMoved(t *testing.T) {
	w, engine := newTable(t, "1 n long"), openEngine(t)
	w.parquet("a.parquet", []arrow.Field{long(1, "n")}, `[{"n": 1}, {"n": 2}]`)
	w.commit(w.data("a.parquet", 2, nil), w.positions("d.parquet", map[string][]int64{"a.parquet": {0}}, nil))
	moved := filepath.Join(t.TempDir(), "elsewhere")
	require.NoError(t, os.Rename(w.root, moved))
	_, err := iceberg.Open(t.Context(), moved, iceberg.Options{})
	require.ErrorIs(t, err, iceberg.ErrMetadata)
	require.NotErrorIs(t, err, fs.ErrNotExist)
	for _, path := range []string{moved, moved + "/metadata/v1.metadata.json", "file:" + moved + "/"} {
		table, err := iceberg.Open(t.Context(), path, iceberg.Options{Moved: true})
		require.NoError(t, err)
		require.Equal(t, []string{`{"n":2}`}, rowsOf(t, table.Query(engine)))
	}
}

// A table in a store is read by its URL, with a list of the metadata or by version-hint.text.
func TestStores(t *testing.T) {
	w, engine := newTable(t, "1 n long"), openEngine(t)
	w.about["location"] = "s3a://bucket/table"
	w.parquet("a.parquet", []arrow.Field{long(1, "n")}, `[{"n": 1}, {"n": 2}]`)
	root := w.root
	deletes := w.positions("d.parquet", map[string][]int64{"a.parquet": {0}}, nil)
	w.parquet("d.parquet", []arrow.Field{text(2147483546, "file_path"), long(2147483545, "pos")}, `[{"file_path": "s3a://bucket/table/a.parquet", "pos": 0}]`)
	inStore := func(e object) object {
		e["file_path"] = "s3a://bucket/table" + strings.TrimPrefix(e["file_path"].(string), root)
		return e
	}
	w.commit(inStore(w.data("a.parquet", 2, nil)), inStore(deletes))
	for _, m := range w.manifests {
		m["manifest_path"] = "s3n://bucket/table" + strings.TrimPrefix(m["manifest_path"].(string), root)
	}
	w.snapshot()
	for _, s := range w.snapshots {
		s["manifest-list"] = "s3://bucket/table" + strings.TrimPrefix(s["manifest-list"].(string), root)
	}
	w.write()
	memory := &objecttest.Memory{}
	require.NoError(t, filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		contents, err := os.ReadFile(name)
		memory.Set("s3://bucket/table"+name[len(root):], contents)
		return err
	}))
	open := func(store objectstore.Store) ([]string, error) {
		table, err := iceberg.Open(t.Context(), "s3://bucket/table/", iceberg.Options{Store: store})
		if err != nil {
			return nil, err
		}
		return rowsOf(t, table.Query(engine)), nil
	}
	lines, err := open(memory)
	require.NoError(t, err)
	require.Equal(t, []string{`{"n":2}`}, lines)
	_, err = open(withoutLists{memory})
	require.ErrorIs(t, err, errors.ErrUnsupported)
	require.ErrorContains(t, err, "give the path of a file of metadata")
	memory.Set("s3://bucket/table/metadata/version-hint.text", []byte("2"))
	lines, err = open(withoutLists{memory})
	require.NoError(t, err)
	require.Equal(t, []string{`{"n":2}`}, lines)
	memory.Set("s3://bucket/table/metadata/version-hint.text", []byte("1")) // of later versions only the last is read
	lines, err = open(without{memory, "s3://bucket/table/metadata/v1.metadata.json"})
	require.NoError(t, err)
	require.Equal(t, []string{`{"n":2}`}, lines)
	_, err = iceberg.Open(t.Context(), "s3://user:secret@bucket/table", iceberg.Options{Store: &objecttest.Memory{}})
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NotContains(t, err.Error(), "secret")
	_, err = iceberg.Open(t.Context(), "s3://bucket/table", iceberg.Options{})
	require.ErrorIs(t, err, objectstore.ErrScheme)
}
