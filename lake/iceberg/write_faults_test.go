package iceberg_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/testing/objecttest"
	"github.com/gpuframe/gpuframe/lake/iceberg"
	"github.com/gpuframe/gpuframe/lake/internal/storage"
	"github.com/gpuframe/gpuframe/objectstore"
)

// lossyStore is a store in memory that may lose the answer to a conditional write, or ignore the condition.
type lossyStore struct {
	objecttest.Memory
	lose, ignore bool
}

var errLost = errors.New("the connection was reset")

func (s *lossyStore) PutNew(ctx context.Context, name string, contents []byte) error {
	if s.ignore {
		return s.Put(ctx, name, contents)
	}
	err := s.Memory.PutNew(ctx, name, contents)
	if err == nil && s.lose {
		return objectstore.NewError("write", name, errLost)
	}
	return err
}

// sharedStore has the objects of the scheme icemem in all tests, which use separate folders.
var sharedStore = sync.OnceValue(func() *lossyStore {
	store := &lossyStore{}
	if err := objectstore.Register("icemem", func() (objectstore.Store, error) { return store, nil }); err != nil {
		panic(err)
	}
	return store
})

// memoryStore returns the store without faults, and again at the end of the test.
func memoryStore(t testing.TB) *lossyStore {
	store := sharedStore()
	t.Cleanup(func() { store.Before, store.lose, store.ignore = nil, false, false })
	return store
}

func numbers() *arrow.Schema {
	return arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64}, {Name: "s", Type: arrow.BinaryTypes.String, Nullable: true}}, nil)
}

// A write that fails at any request leaves the rows as they were and removes its files. Only after a commit without an answer the
// files stay.
func TestWriteFaults(t *testing.T) {
	store, engine := memoryStore(t), openEngine(t)
	first, second := queryOf(t, engine, numbers(), `[{"id": 1, "s": "a"}]`), queryOf(t, engine, numbers(), `[{"id": 2, "s": null}]`)
	fault := errors.New("fault")
	for number := range 4 {
		overwrite, options, unknown := number%2 == 1, iceberg.WriteOptions{}, 0
		if number >= 2 {
			options.PartitionBy = []string{"s"}
		}
		for failing, done := 1, false; !done; failing++ {
			path := fmt.Sprintf("icemem://b/%s/%d-%d", t.Name(), number, failing)
			store.Before = nil
			w, err := iceberg.Create(t.Context(), path, numbers(), options)
			require.NoError(t, err)
			_, err = w.Append(t.Context(), first)
			require.NoError(t, err)
			before := objectsBelow(store, path)
			requests := 0
			store.Before = func(context.Context, string, string, int64, int64) error {
				requests++
				if requests == failing {
					return fault
				}
				return nil
			}
			write, after := w.Append, sorted(rowsOf(t, first), rowsOf(t, second))
			if overwrite {
				write, after = w.Overwrite, rowsOf(t, second)
			}
			_, err = write(t.Context(), second)
			store.Before = nil
			done = requests < failing
			switch rows := tableRows(t, engine, path, iceberg.Options{}); {
			case err == nil:
				require.Equal(t, after, rows)
			case errors.Is(err, iceberg.ErrUnknown):
				unknown++
				require.Equal(t, rowsOf(t, first), rows, "the request was not sent")
			default:
				require.ErrorIs(t, err, fault)
				require.Equal(t, rowsOf(t, first), rows)
				require.Equal(t, before, objectsBelow(store, path))
			}
			_, err = w.Append(t.Context(), second)
			require.NoError(t, err, "the table can be written again")
		}
		require.Equal(t, 1, unknown)
	}
}

// A store that ignores the condition of a commit is refused: two writers would both have committed.
func TestStoresWithoutConditions(t *testing.T) {
	store, path := memoryStore(t), "icemem://b/"+t.Name()
	_, err := iceberg.Create(t.Context(), path, numbers(), iceberg.WriteOptions{})
	require.NoError(t, err)
	store.ignore = true
	_, err = iceberg.OpenWriter(t.Context(), path, iceberg.WriteOptions{})
	require.ErrorIs(t, err, iceberg.ErrUnsupported)
	_, err = iceberg.Create(t.Context(), path+"2", numbers(), iceberg.WriteOptions{})
	require.ErrorIs(t, err, errors.ErrUnsupported)
}

func objectsBelow(store *lossyStore, path string) (names []string) {
	for _, name := range store.Names() {
		if strings.HasPrefix(name, path+"/") {
			names = append(names, name)
		}
	}
	return names
}

// A commit with a lost answer is found in the table.
func TestLostAnswersOfCommits(t *testing.T) {
	store, engine := memoryStore(t), openEngine(t)
	path := "icemem://b/" + t.Name()
	store.lose = true
	w := createTable(t, path, numbers())
	query := queryOf(t, engine, numbers(), `[{"id": 1, "s": "a"}]`)
	_, err := w.Append(t.Context(), query)
	require.NoError(t, err)
	require.Equal(t, rowsOf(t, query), tableRows(t, engine, path, iceberg.Options{}))
}

// An append that loses a race adds to the winner's snapshot, an overwrite does not. Neither leaves files that no snapshot has.
func TestLostRaces(t *testing.T) {
	store, engine := memoryStore(t), openEngine(t)
	first, second := queryOf(t, engine, numbers(), `[{"id": 1, "s": "a"}]`), queryOf(t, engine, numbers(), `[{"id": 2, "s": null}]`)
	for _, overwrite := range []bool{false, true} {
		path := fmt.Sprintf("icemem://b/%s/%v", t.Name(), overwrite)
		w := createTable(t, path, numbers())
		other, err := iceberg.OpenWriter(t.Context(), path, iceberg.WriteOptions{})
		require.NoError(t, err)
		raced := false
		var beside []string
		store.Before = func(ctx context.Context, operation, name string, _, _ int64) error {
			if operation == "write" && strings.HasSuffix(name, "/v2.metadata.json") && !raced {
				raced = true
				own := objectsBelow(store, path)
				_, err := other.Append(ctx, first)
				for _, each := range objectsBelow(store, path) {
					if !slices.Contains(own, each) {
						beside = append(beside, each)
					}
				}
				return err
			}
			return nil
		}
		write := w.Append
		if overwrite {
			write = w.Overwrite
		}
		_, err = write(t.Context(), second)
		store.Before = nil
		if overwrite {
			require.ErrorIs(t, err, iceberg.ErrConflict)
			require.Equal(t, rowsOf(t, first), tableRows(t, engine, path, iceberg.Options{}))
			require.ElementsMatch(t, append(beside, path+"/metadata/v1.metadata.json", path+"/metadata/version-hint.text"), objectsBelow(store, path))
			continue
		}
		require.NoError(t, err)
		require.Equal(t, sorted(rowsOf(t, first), rowsOf(t, second)), tableRows(t, engine, path, iceberg.Options{}))
		data, lists := 0, 0
		for _, name := range objectsBelow(store, path) {
			if strings.HasSuffix(name, ".parquet") {
				data++
			} else if strings.HasSuffix(name, ".avro") {
				lists++
			}
		}
		require.Equal(t, []int{2, 4}, []int{data, lists})
	}
}

// Writers of one table at the same time add all of their rows.
func TestConcurrentAppends(t *testing.T) {
	engine, path := openEngine(t), filepath.Join(t.TempDir(), "t")
	createTable(t, path, numbers())
	var writing sync.WaitGroup
	var want []string
	errs := make([]error, 6)
	for i := range errs {
		query := queryOf(t, engine, numbers(), fmt.Sprintf(`[{"id": %d, "s": "a"}]`, i))
		want = append(want, rowsOf(t, query)...)
		writing.Go(func() {
			w, err := iceberg.OpenWriter(t.Context(), path, iceberg.WriteOptions{})
			for range 2 {
				if err == nil {
					_, err = w.Append(t.Context(), query)
				}
			}
			errs[i] = err
		})
	}
	writing.Wait()
	require.NoError(t, errors.Join(errs...))
	require.Equal(t, sorted(want, want), tableRows(t, engine, path, iceberg.Options{}))
	for _, file := range filesIn(t, path) {
		require.NotContains(t, file, ".tmp")
	}
}

// The first writes of a partitioned table at the same time make one folder of data.
func TestConcurrentFirstAppends(t *testing.T) {
	engine := openEngine(t)
	for range 5 {
		path := filepath.Join(t.TempDir(), "t")
		_, err := iceberg.Create(t.Context(), path, numbers(), iceberg.WriteOptions{PartitionBy: []string{"s"}})
		require.NoError(t, err)
		var writing sync.WaitGroup
		errs := make([]error, 4)
		for i := range errs {
			query := queryOf(t, engine, numbers(), fmt.Sprintf(`[{"id": %d, "s": "a"}]`, i))
			writing.Go(func() {
				w, err := iceberg.OpenWriter(t.Context(), path, iceberg.WriteOptions{})
				if err == nil {
					_, err = w.Append(t.Context(), query)
				}
				errs[i] = err
			})
		}
		writing.Wait()
		require.NoError(t, errors.Join(errs...))
		require.Len(t, tableRows(t, engine, path, iceberg.Options{}), len(errs))
	}
}

// A cancelled write leaves no file.
func TestCancelledWrites(t *testing.T) {
	engine, path := openEngine(t), filepath.Join(t.TempDir(), "t")
	w := createTable(t, path, numbers())
	before := filesIn(t, path)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	_, err := w.Append(ctx, queryOf(t, engine, numbers(), `[{"id": 1, "s": "a"}]`))
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, before, filesIn(t, path))
}

// A table that was dropped and created again between the read of its metadata and the commit keeps its rows: the write is a conflict,
// and its files are removed.
func TestTablesThatAreCreatedAgain(t *testing.T) {
	store, engine := memoryStore(t), openEngine(t)
	first, second := queryOf(t, engine, numbers(), `[{"id": 1, "s": "a"}]`), queryOf(t, engine, numbers(), `[{"id": 2, "s": null}]`)
	for _, overwrite := range []bool{false, true} {
		path := fmt.Sprintf("icemem://b/%s/%v", t.Name(), overwrite)
		w := createTable(t, path, numbers())
		var files []string
		again := false
		store.Before = func(ctx context.Context, operation, name string, _, _ int64) error {
			if operation != "write" || !strings.HasSuffix(name, "/v2.metadata.json") || again {
				return nil
			}
			again = true
			own := objectsBelow(store, path)
			for _, each := range own {
				if strings.Contains(each, ".metadata.json") || strings.HasSuffix(each, "version-hint.text") {
					if err := store.Delete(ctx, each); err != nil {
						return err
					}
				}
			}
			other, err := iceberg.Create(ctx, path, numbers(), iceberg.WriteOptions{})
			if err == nil {
				_, err = other.Append(ctx, first)
			}
			for _, each := range objectsBelow(store, path) {
				if !slices.Contains(own, each) || strings.Contains(each, ".metadata.json") || strings.HasSuffix(each, "version-hint.text") {
					files = append(files, each)
				}
			}
			return err
		}
		write := w.Append
		if overwrite {
			write = w.Overwrite
		}
		_, err := write(t.Context(), second)
		store.Before = nil
		require.True(t, again)
		require.ErrorIs(t, err, iceberg.ErrConflict)
		require.Equal(t, rowsOf(t, first), tableRows(t, engine, path, iceberg.Options{}))
		require.ElementsMatch(t, files, objectsBelow(store, path))
	}
}

// An error of the disk at any call of a write to a folder leaves the rows as they were and no file of the write, unless the
// metadata have appeared: then the write is complete.
func TestDiskErrorsOfWrites(t *testing.T) {
	engine := openEngine(t)
	first, second := queryOf(t, engine, numbers(), `[{"id": 1, "s": "a"}]`), queryOf(t, engine, numbers(), `[{"id": 2, "s": null}]`)
	failures, completed := 0, 0
	for _, after := range []bool{false, true} { // the call has had its effect
		for failing, done := 1, false; !done; failing++ {
			path := filepath.Join(t.TempDir(), "t")
			w := createTable(t, path, numbers())
			_, err := w.Append(t.Context(), first)
			require.NoError(t, err)
			before := filesIn(t, path)
			calls := 0
			reset := storage.Hook(func(call string, act func() error) error {
				calls++
				if calls != failing {
					return act()
				}
				if after {
					_ = act()
				}
				return &fs.PathError{Op: call, Path: path, Err: syscall.EIO}
			})
			_, err = w.Append(t.Context(), second)
			reset()
			done = calls < failing
			rows := tableRows(t, engine, path, iceberg.Options{})
			if err == nil {
				completed++
				require.Equal(t, sorted(rowsOf(t, first), rowsOf(t, second)), rows)
			} else {
				failures++
				require.ErrorIs(t, err, syscall.EIO)
				require.Equal(t, rowsOf(t, first), rows)
				require.Equal(t, before, filesIn(t, path))
			}
			_, err = w.Append(t.Context(), second)
			require.NoError(t, err, "the table can be written again")
		}
	}
	require.Positive(t, failures)
	require.Positive(t, completed)
}
