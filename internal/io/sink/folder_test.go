package sink_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/io/sink"
	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/objecttest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/objectstore"
)

// folderTexts are values of partitions that folders cannot have as they are.
var folderTexts = []string{"plain", "a/b", "..", "x=y", "50% off", "%41", "São Paulo", "", "__HIVE_DEFAULT_PARTITION__", "_hidden", "a b", "*?[", "\x01\n", "日本"}

// folderRecord has the columns number, city, day, value: the first three are those to partition by.
func folderRecord(random *rand.Rand, rows int, texts []string) arrow.Record {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "number", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		{Name: "city", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "id", Type: arrow.PrimitiveTypes.Int64},
		{Name: "label", Type: arrow.BinaryTypes.String, Nullable: true},
	}, nil)
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
	defer b.Release()
	for i := range rows {
		if number := random.IntN(4); number == 0 {
			b.Field(0).AppendNull()
		} else {
			b.Field(0).(*array.Int64Builder).Append(int64(number - 2))
		}
		if city := random.IntN(len(texts) + 1); city == len(texts) {
			b.Field(1).AppendNull()
		} else {
			b.Field(1).(*array.StringBuilder).Append(texts[city])
		}
		b.Field(2).(*array.Int64Builder).Append(int64(i))
		if random.IntN(5) == 0 {
			b.Field(3).AppendNull()
		} else {
			b.Field(3).(*array.StringBuilder).Append(fmt.Sprint("label ", random.IntN(100)))
		}
	}
	return b.NewRecord()
}

// rowTexts are the rows of a record as texts, in order. Columns are in the order of names.
func rowTexts(record arrow.Record, names ...string) []string {
	list := make([]string, record.NumRows())
	for row := range list {
		for _, name := range names {
			column := record.Column(record.Schema().FieldIndices(name)[0])
			if column.IsNull(row) {
				list[row] += "|∅"
			} else {
				list[row] += fmt.Sprintf("|%q", column.ValueStr(row))
			}
		}
	}
	slices.Sort(list)
	return list
}

var folderFormats = map[string]struct {
	format sink.Format
	open   func(paths []string) (source.Source, error)
}{
	"parquet": {sink.Parquet(sink.ParquetOptions{}), func(paths []string) (source.Source, error) { return source.Files{}.Parquet(paths) }},
	"csv": {sink.CSV(sink.CSVOptions{}), func(paths []string) (source.Source, error) {
		return source.Files{}.CSV(paths, source.CSVOptions{Types: map[string]arrow.DataType{"label": arrow.BinaryTypes.String}})
	}},
	"json":  {sink.JSON(), func(paths []string) (source.Source, error) { return source.Files{}.JSON(paths, source.JSONOptions{}) }},
	"arrow": {sink.IPC(sink.IPCOptions{}), func(paths []string) (source.Source, error) { return source.Files{}.IPC(paths) }},
}

func toFolder(t testing.TB, folder string, record arrow.Record, format sink.Format, options sink.FolderOptions) (sink.Manifest, error) {
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	reader := readerOf(t, m, record.Schema(), []arrow.Record{record}, 64)
	manifest, err := sink.ToFolder(t.Context(), folder, format, options, reader)
	require.NoError(t, reader.Close())
	return manifest, err
}

func readFolder(t testing.TB, folder, format string) arrow.Record {
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	s, err := folderFormats[format].open([]string{folder})
	require.NoError(t, err)
	return whole(t, m, s)
}

// filesBelow are all files below a folder, with their sizes; hidden ones too.
func filesBelow(t testing.TB, folder string) map[string]int64 {
	files := map[string]int64{}
	require.NoError(t, filepath.WalkDir(folder, func(name string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || err == nil && entry.IsDir() {
			return nil
		}
		info, err := entry.Info()
		files[strings.TrimPrefix(filepath.ToSlash(name), filepath.ToSlash(folder)+"/")] = info.Size()
		return err
	}))
	return files
}

// A folder read back has the rows that were written, with every choice of partitions, limits and formats.
func TestFolders(t *testing.T) {
	defer sink.SetSystem(func(string) error { return nil })() // without waiting for the disk
	random := property.Random(t)
	for name, each := range folderFormats {
		for _, keys := range [][]string{nil, {"city"}, {"number", "city"}, {"city", "number"}} {
			for _, limits := range []sink.FolderOptions{{}, {FileRows: 7}, {FileBytes: 300}, {MostOpen: 1}, {MostBytes: 1}, {FileRows: 20, FileBytes: 2000, MostOpen: 3, MostBytes: 1000}} {
				record := folderRecord(random, 200, folderTexts)
				limits.PartitionBy, limits.Manifest = keys, "_manifest.json"
				folder := filepath.Join(t.TempDir(), "out")
				manifest, err := toFolder(t, folder, record, each.format, limits)
				require.NoError(t, err, name)
				got := readFolder(t, folder, name)
				names := []string{"number", "city", "id", "label"}
				require.Equal(t, rowTexts(record, names...), rowTexts(got, names...), "%s %v", name, limits)
				require.EqualValues(t, 200, manifest.Rows)
				checkManifest(t, folder, manifest, limits)
			}
		}
	}
}

// checkManifest compares a manifest with the files.
func checkManifest(t testing.TB, folder string, manifest sink.Manifest, options sink.FolderOptions) {
	files := filesBelow(t, folder)
	require.Equal(t, manifest, manifestOf(t, folder))
	delete(files, "_manifest.json")
	require.Len(t, files, len(manifest.Files), "no other file, none of them temporary")
	for _, file := range manifest.Files {
		require.Equal(t, files[file.Path], file.Bytes)
		require.True(t, options.FileRows == 0 || file.Rows <= options.FileRows)
	}
}

func manifestOf(t testing.TB, folder string) (m sink.Manifest) {
	text, err := os.ReadFile(filepath.Join(folder, "_manifest.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &m))
	return m
}

// The choices about existing files.
func TestExistingFiles(t *testing.T) {
	parquet := folderFormats["parquet"].format
	cities := func(list ...string) arrow.Record {
		b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, arrow.NewSchema([]arrow.Field{{Name: "city", Type: arrow.BinaryTypes.String}, {Name: "id", Type: arrow.PrimitiveTypes.Int64}}, nil))
		for i, city := range list {
			b.Field(0).(*array.StringBuilder).Append(city)
			b.Field(1).(*array.Int64Builder).Append(int64(i))
		}
		return b.NewRecord()
	}
	for _, each := range []struct {
		existing sink.Existing
		want     []string
	}{
		{sink.Append, []string{`|"Oslo"`, `|"Oslo"`, `|"Rome"`, `|"a b"`, `|"a b"`}},
		{sink.Overwrite, []string{`|"Oslo"`, `|"a b"`}},
		{sink.OverwritePartitions, []string{`|"Oslo"`, `|"Rome"`, `|"a b"`}},
	} {
		folder := filepath.Join(t.TempDir(), "out")
		options := sink.FolderOptions{PartitionBy: []string{"city"}}
		_, err := toFolder(t, folder, cities("Oslo", "Rome", "a b"), parquet, options)
		require.NoError(t, err)
		require.NoError(t, os.Rename(filepath.Join(folder, "city=a%20b"), filepath.Join(folder, "city=a b"))) // as others write it
		require.NoError(t, os.WriteFile(filepath.Join(folder, "_notes"), []byte("kept"), 0o666))
		before := filesBelow(t, folder)
		_, err = toFolder(t, folder, cities("Oslo"), parquet, options)
		require.ErrorIs(t, err, fs.ErrExist)
		require.Equal(t, before, filesBelow(t, folder))
		options.Existing = each.existing
		_, err = toFolder(t, folder, cities("Oslo", "a b"), parquet, options)
		require.NoError(t, err)
		require.Equal(t, each.want, rowTexts(readFolder(t, folder, "parquet"), "city"))
		require.Contains(t, filesBelow(t, folder), "_notes")
	}
	folder := t.TempDir() // that is empty
	_, err := toFolder(t, folder, cities("Oslo"), parquet, sink.FolderOptions{})
	require.NoError(t, err)
	_, err = toFolder(t, folder, cities(), parquet, sink.FolderOptions{Existing: sink.Overwrite})
	require.NoError(t, err)
	require.Len(t, filesBelow(t, folder), 1, "a file without rows has the columns")
	_, err = toFolder(t, folder, cities(), parquet, sink.FolderOptions{Existing: sink.Overwrite, PartitionBy: []string{"city"}})
	require.NoError(t, err)
	require.Empty(t, filesBelow(t, folder))
}

// After a failure of any call of the operating system, the folder is as it was, and nothing temporary is left.
func TestFolderFaults(t *testing.T) {
	record := folderRecord(property.Random(t), 100, []string{"a", "b"})
	failure := errors.New("the disk is full")
	for _, existing := range []sink.Existing{sink.Refuse, sink.Append, sink.Overwrite, sink.OverwritePartitions} {
		options := sink.FolderOptions{PartitionBy: []string{"city"}, FileRows: 20, MostOpen: 2, Manifest: "_manifest.json"}
		for step, passed := 1, false; !passed; step++ {
			parent := t.TempDir()
			folder := filepath.Join(parent, "out")
			if existing == sink.Refuse {
				folder = filepath.Join(parent, "no", "parents", "out")
			} else {
				_, err := toFolder(t, folder, record, folderFormats["csv"].format, options)
				require.NoError(t, err)
			}
			before, calls := filesBelow(t, parent), 0
			options.Existing = existing
			reset := sink.SetSystem(func(call string) error {
				if call == "remove" { // of hidden files
					return nil
				}
				if calls++; calls == step {
					return failure
				}
				return nil
			})
			_, err := toFolder(t, folder, record, folderFormats["csv"].format, options)
			reset()
			options.Existing = sink.Refuse
			if passed = err == nil; passed {
				require.Greater(t, step, 15)
				require.Len(t, rowTexts(readFolder(t, folder, "csv"), "id"), map[sink.Existing]int{sink.Append: 200}[existing]+map[bool]int{true: 100}[existing != sink.Append])
				continue
			}
			require.ErrorIs(t, err, failure)
			require.Equal(t, before, filesBelow(t, parent))
			require.NoDirExists(t, filepath.Join(parent, "no"))
		}
	}
}

// If no file can be renamed any more, those of the folder are kept in the hidden one, which the error names.
func TestFilesThatCannotBePutBack(t *testing.T) {
	record := folderRecord(property.Random(t), 20, []string{"a", "b"})
	failure := errors.New("the disk is gone")
	parent := t.TempDir()
	folder := filepath.Join(parent, "out")
	options := sink.FolderOptions{PartitionBy: []string{"city"}}
	_, err := toFolder(t, folder, record, folderFormats["csv"].format, options)
	require.NoError(t, err)
	before, renames := len(filesBelow(t, parent)), 0
	options.Existing = sink.Overwrite
	defer sink.SetSystem(func(call string) error {
		if call == "rename" {
			renames++
		}
		if renames > before+1 { // of the new files, and of one before
			return failure
		}
		return nil
	})()
	_, err = toFolder(t, folder, record, folderFormats["csv"].format, options)
	require.ErrorIs(t, err, failure)
	require.ErrorContains(t, err, "files of the folder before the write are in "+filepath.Join(folder, "."))
	require.GreaterOrEqual(t, len(filesBelow(t, parent)), 2*before)
}

// A reader that fails, or a context that ends, leaves the folder as it was.
func TestFoldersOfFailedQueries(t *testing.T) {
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	record := folderRecord(property.Random(t), 300, folderTexts)
	parent := t.TempDir()
	ctx, stop := context.WithCancelCause(t.Context())
	cause, calls := errors.New("the user left"), 0
	defer sink.SetSystem(func(call string) error {
		if calls++; calls == 5 {
			stop(cause)
		}
		return nil
	})()
	reader := readerOf(t, m, record.Schema(), []arrow.Record{record}, 64)
	_, err := sink.ToFolder(ctx, filepath.Join(parent, "out"), folderFormats["parquet"].format, sink.FolderOptions{PartitionBy: []string{"city"}}, reader)
	require.NoError(t, reader.Close())
	require.ErrorIs(t, err, cause)
	entries, err := os.ReadDir(parent)
	require.NoError(t, err)
	require.Empty(t, entries)
}

// The same for a store: after any request that fails it has the objects that it had, and no upload.
func TestFolderObjectFaults(t *testing.T) {
	defer sink.SetPartBytes(400)()
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	record := folderRecord(property.Random(t), 100, []string{"a", "b"})
	var store objecttest.Memory
	require.NoError(t, objectstore.Register("folder-faults", func() (objectstore.Store, error) { return &store, nil }))
	const folder = "folder-faults://bucket/out"
	write := func(options sink.FolderOptions) (sink.Manifest, error) {
		reader := readerOf(t, m, record.Schema(), []arrow.Record{record}, 64)
		defer func() { require.NoError(t, reader.Close()) }()
		options.PartitionBy, options.FileRows, options.Manifest = []string{"city"}, 20, "_manifest.json"
		return sink.ToFolder(t.Context(), folder, folderFormats["csv"].format, options, reader)
	}
	first, err := write(sink.FolderOptions{})
	require.NoError(t, err)
	require.EqualValues(t, 100, first.Rows)
	require.Len(t, store.Names(), len(first.Files)+1)
	_, err = write(sink.FolderOptions{})
	require.ErrorIs(t, err, fs.ErrExist)
	for _, existing := range []sink.Existing{sink.Append, sink.Overwrite} {
		for step, passed := 1, false; !passed; step++ {
			before, calls := store.Names(), make(chan int, 1)
			calls <- 0
			failed := ""
			store.Before = func(_ context.Context, operation, _ string, _, _ int64) error {
				n := <-calls + 1
				if n == step {
					failed = operation
				}
				calls <- n
				if n == step {
					return fs.ErrPermission
				}
				return nil
			}
			m, err := write(sink.FolderOptions{Existing: existing})
			store.Before = nil
			require.Zero(t, store.Pending())
			if passed = err == nil; !passed {
				require.ErrorIs(t, err, fs.ErrPermission)
			}
			if failed == "delete" { // the new objects are complete, old ones remain
				require.ErrorContains(t, err, "the new objects are complete")
				m = storedManifest(t, &store, folder)
			}
			if err == nil || failed == "delete" {
				for _, file := range m.Files {
					require.Contains(t, store.Names(), folder+"/"+file.Path)
				}
				continue
			}
			require.Equal(t, before, store.Names(), failed)
		}
	}
	require.Len(t, store.Names(), len(storedManifest(t, &store, folder).Files)+1, "of an overwrite only its files are left")
}

func storedManifest(t testing.TB, store *objecttest.Memory, folder string) (m sink.Manifest) {
	require.NoError(t, json.Unmarshal(store.Get(folder+"/_manifest.json"), &m))
	return m
}

func TestFolderArguments(t *testing.T) {
	record := folderRecord(property.Random(t), 50, folderTexts)
	for text, options := range map[string]sink.FolderOptions{
		`no column is called "town"`:       {PartitionBy: []string{"town"}},
		"twice":                            {PartitionBy: []string{"city", "city"}},
		"no column is left":                {PartitionBy: []string{"city", "number", "id", "label"}},
		"negative":                         {FileRows: -1},
		"overwrite the folder":             {Existing: sink.OverwritePartitions},
		"the manifest is called":           {Manifest: "manifest.json"},
		"more than 5 files":                {PartitionBy: []string{"id"}, MostFiles: 5},
		"the choice about existing files ": {Existing: 9},
	} {
		parent := t.TempDir()
		_, err := toFolder(t, filepath.Join(parent, "out"), record, folderFormats["csv"].format, options)
		require.ErrorIs(t, err, sink.ErrArgument, text)
		assert.ErrorContains(t, err, text)
		require.Empty(t, filesBelow(t, parent))
	}
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o666))
	_, err := toFolder(t, file, record, folderFormats["csv"].format, sink.FolderOptions{})
	require.ErrorContains(t, err, "it is a file")
	_, err = toFolder(t, "nowhere://bucket/a", record, folderFormats["csv"].format, sink.FolderOptions{})
	require.ErrorIs(t, err, objectstore.ErrScheme)
}

// Gathered rows of every type are those rows.
func TestGather(t *testing.T) {
	random, gatheredTypes := property.Random(t), map[arrow.Type]bool{}
	for _, dataType := range arraytest.AllTypes() {
		for _, nulls := range []arraytest.Nulls{0, 1} {
			g := arraytest.NewGenerator(random.Uint64())
			g.Nulls = nulls
			whole := g.Array(dataType, 60)
			values := array.NewSlice(whole, 5, 55)
			rows := make([]int, random.IntN(40))
			for i := range rows {
				rows[i] = random.IntN(50)
			}
			slices.Sort(rows)
			rows = slices.Compact(rows)
			schema := arrow.NewSchema([]arrow.Field{{Name: "a", Type: dataType, Nullable: true}}, nil)
			gathered, err := sink.GatherRecord(array.NewRecord(schema, []arrow.Array{values}, 50), rows)
			if errors.Is(err, sink.ErrUnsupported) {
				continue
			}
			gatheredTypes[dataType.ID()] = true
			require.NoError(t, err, dataType)
			got := gathered.Column(0)
			require.Equal(t, len(rows), got.Len())
			for i, row := range rows {
				require.True(t, arraytest.Same(values, row, got, i), "%v", dataType)
			}
		}
	}
	for _, id := range []arrow.Type{arrow.LIST, arrow.STRUCT, arrow.MAP, arrow.FIXED_SIZE_LIST, arrow.BOOL, arrow.STRING, arrow.DICTIONARY, arrow.DECIMAL256} {
		require.True(t, gatheredTypes[id], "%v", id)
	}
}
