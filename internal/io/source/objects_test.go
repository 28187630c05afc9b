package source_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/objecttest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/objectstore"
)

const bucket = "mem://bucket/"

// drawObjects draws the lengths of requests.
func drawObjects(r *rapid.T) (reset func()) {
	return source.SetObjects(
		int64(rapid.SampledFrom([]int{8, 100, 3000}).Draw(r, "end")), int64(rapid.SampledFrom([]int{0, 30, 1000}).Draw(r, "gap")),
		rapid.SampledFrom([]int{10, 333, 1 << 20}).Draw(r, "request"), int64(rapid.SampledFrom([]int{50, 1000}).Draw(r, "block")))
}

// objectOf returns the source of a Parquet file in a store.
func objectOf(t testing.TB, store objectstore.Store, names ...string) source.Source {
	t.Helper()
	s, err := source.Files{Store: store}.Parquet(names)
	require.NoError(t, err)
	return s
}

// Names, patterns and folders of a store are those of the file system, with the same partitions.
func TestRandomNamesOfObjects(t *testing.T) {
	parts := []string{"a", "b.parquet", "c.parquet", "d.txt", "k=1", "k=x", "k=__HIVE_DEFAULT_PARTITION__", "_d", ".e", "[f"}
	patterns := append([]string{"*", "*.parquet", "k=*", "?", "[ab]*", "[", "b.*"}, parts...)
	draw := func(r *rapid.T, from []string, most int) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(from), 1, most).Draw(r, "name"), "/")
	}
	property.Check(t, func(r *rapid.T) {
		files := fstest.MapFS{}
		var store objecttest.Memory
		for range rapid.IntRange(1, 8).Draw(r, "files") {
			name := draw(r, parts, 4)
			nested := false // a file would be a folder of another one
			for other := range files {
				nested = nested || strings.HasPrefix(other+"/", name+"/") || strings.HasPrefix(name+"/", other+"/")
			}
			if !nested {
				files[name] = &fstest.MapFile{}
				store.Set(bucket+name, nil)
			}
		}
		for range 4 {
			pattern := draw(r, patterns, 4)
			want, failure := source.Files{System: files}.Parquet([]string{pattern})
			got, err := source.Files{Store: &store}.Parquet([]string{bucket + pattern})
			for _, condition := range []error{fs.ErrNotExist, source.ErrArgument, source.ErrContents} {
				require.Equal(r, errors.Is(failure, condition), errors.Is(err, condition), "%s in %v\nwant %v\ngot  %v", pattern, store.Names(), failure, err)
			}
			if require.Equal(r, failure == nil, err == nil, "%s in %v\nwant %v\ngot  %v", pattern, store.Names(), failure, err); err != nil {
				continue
			}
			names, values := source.Paths(want)
			objects, partitions := source.Paths(got)
			for i := range names {
				names[i] = bucket + names[i]
			}
			require.ElementsMatch(r, names, objects, "%s in %v", pattern, store.Names())
			byName := map[string][]*string{}
			for i, name := range names {
				byName[name] = values[i]
			}
			for i, name := range objects {
				require.Equal(r, byName[name], partitions[i], "%s in %v", pattern, store.Names())
			}
		}
	})
}

// One request reads a small file, and one more each row group of a larger file: only the columns that a query needs.
func TestRequestsOfParquet(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		var store objecttest.Memory
		store.Set(bucket+"small.parquet", parquetOf(t, 1000, numbered(0, 1000)))
		data := parquetOf(t, 1000, numbered(0, 5000))
		store.Set(bucket+"large.parquet", data)
		var counters source.Counters
		assert.Equal(t, count(0, 1000), numbers(t, read(t, objectOf(t, &store, bucket+"small.parquet"), m, source.Request{Counters: &counters})))
		assert.EqualValues(t, 1, store.Requests.Load())
		assert.EqualValues(t, 1, store.Others.Load())
		assert.EqualValues(t, 2, counters.Requests.Load())

		defer source.SetObjects(2000, 0, 1<<20, 1<<20)()
		s := objectOf(t, &store, bucket+"large.parquet")
		_, err := s.Schema(t.Context())
		require.NoError(t, err)
		require.NoError(t, drain(t.Context(), s, m))
		store.Reset()
		counters = source.Counters{}
		got := numbers(t, read(t, s, m, source.Request{Columns: []string{"n"}, Where: []expr.Expr{expr.Col("n").Ge(expr.Lit(2000))}, Counters: &counters}))
		assert.Equal(t, count(2000, 3000), got)
		assert.EqualValues(t, 3, store.Requests.Load())
		assert.Zero(t, store.Others.Load())
		assert.Less(t, store.Bytes.Load(), int64(len(data))*3/5)
		assert.Equal(t, counters.FileBytes.Load(), store.Bytes.Load(), "no other bytes")
		assert.GreaterOrEqual(t, counters.Requests.Load(), int64(3))
		assert.GreaterOrEqual(t, counters.RequestBytes.Load(), store.Bytes.Load())
	})
}

// Row groups of several files are requested at the same time, more than there are processors.
func TestRequestsAtATime(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		defer source.SetObjects(8, 0, 1<<20, 1<<20)()
		const groups = 40
		var flying atomic.Int64
		all := make(chan struct{})
		store := objecttest.Memory{}
		store.Set(bucket+"a.parquet", parquetOf(t, 10, numbered(0, 10*groups)))
		s := objectOf(t, &store, bucket+"*.parquet")
		_, err := s.Schema(t.Context())
		require.NoError(t, err)
		store.Before = func(ctx context.Context, operation, _ string, _, _ int64) error {
			if operation == "read" && flying.Add(1) == groups {
				close(all)
			}
			select {
			case <-all:
			case <-ctx.Done():
			}
			return ctx.Err()
		}
		assert.Equal(t, count(0, 10*groups), numbers(t, read(t, s, m, source.Request{Columns: []string{"n"}, BatchRows: 10})))
		assert.LessOrEqual(t, store.MostFlying.Load(), int64(64))
	})
}

// An object that changes during a scan is an error, and not a mixture. The next query reads the new one.
func TestChangedObject(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		defer source.SetObjects(600, 0, 1<<20, 100)()
		for name, files := range property.InOrder(map[string][2][]byte{
			"a.parquet": {parquetOf(t, 100, numbered(0, 500)), parquetOf(t, 100, numbered(500, 700))},
			"a.csv":     {[]byte(manyRows(500)), []byte(manyRows(700))},
		}) {
			var store objecttest.Memory
			store.Set(bucket+name, files[0])
			open := func() (source.Source, error) { return source.Files{Store: &store}.Parquet([]string{bucket + name}) }
			if name == "a.csv" {
				open = func() (source.Source, error) {
					return source.Files{Store: &store}.CSV([]string{bucket + name}, source.CSVOptions{})
				}
			}
			s, err := open()
			require.NoError(t, err)
			require.NoError(t, drain(t.Context(), s, m))
			store.Set(bucket+name, files[1])
			err = drain(t.Context(), s, m)
			require.ErrorIs(t, err, objectstore.ErrChanged)
			require.ErrorIs(t, err, source.ErrRead)
			require.NotErrorIs(t, err, source.ErrContents)
			var typed *source.Error
			require.ErrorAs(t, err, &typed)
			assert.Equal(t, bucket+name, typed.Path)
			assert.Len(t, numbers(t, read(t, s, m, source.Request{})), 700)
		}
	})
}

// Requests that fail each time are errors with the URL, and those that fail for a time are repeated.
func TestFailingRequests(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		defer source.SetObjects(600, 0, 100, 100)()
		var store objecttest.Memory
		store.Set(bucket+"a.parquet", parquetOf(t, 100, numbered(0, 500)))
		var calls atomic.Int64
		quick := objectstore.WithRetry(&store, objectstore.Retry{Pause: time.Nanosecond})
		for step := int64(0); ; step++ {
			store.Before = func(context.Context, string, string, int64, int64) error {
				if calls.Add(1) == step {
					return objectstore.ErrThrottled
				}
				return nil
			}
			calls.Store(0)
			s := objectOf(t, quick, bucket+"a.parquet")
			assert.Equal(t, count(0, 500), numbers(t, read(t, s, m, source.Request{Columns: []string{"n"}})))
			if calls.Load() < step {
				break
			}
		}
		for step := int64(1); ; step++ {
			store.Before = func(context.Context, string, string, int64, int64) error {
				if calls.Add(1) == step {
					return fs.ErrPermission
				}
				return nil
			}
			calls.Store(0)
			s, err := source.Files{Store: quick}.Parquet([]string{bucket + "a.parquet"})
			if err == nil {
				err = drain(t.Context(), s, m)
			}
			if err == nil {
				assert.Less(t, calls.Load(), step)
				break
			}
			require.ErrorIs(t, err, fs.ErrPermission)
			require.NotErrorIs(t, err, source.ErrContents)
			var failed *objectstore.Error
			require.ErrorAs(t, err, &failed)
			assert.Equal(t, bucket+"a.parquet", failed.URL)
		}
	})
}

// The end of a context ends requests.
func TestCancelledRequests(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		defer source.SetObjects(8, 0, 1<<20, 100)()
		var store objecttest.Memory
		store.Set(bucket+"a.parquet", parquetOf(t, 100, numbered(0, 500)))
		store.Set(bucket+"a.csv", []byte(manyRows(500)))
		parquet := objectOf(t, &store, bucket+"a.parquet")
		csv, err := source.Files{Store: &store}.CSV([]string{bucket + "a.csv"}, source.CSVOptions{InferRows: 1})
		require.NoError(t, err)
		for _, s := range []source.Source{parquet, csv} {
			_, err := s.Schema(t.Context())
			require.NoError(t, err)
			ctx, stop := context.WithCancel(t.Context())
			store.Before = func(ctx context.Context, _, _ string, _, _ int64) error {
				stop()
				<-ctx.Done() // the end of the query's context closes the reader, and that ends the request
				return ctx.Err()
			}
			reader, err := s.Open(ctx, m, source.Request{})
			if err == nil {
				_, err = reader.Next(ctx)
				assert.NoError(t, reader.Close())
			}
			require.ErrorIs(t, err, context.Canceled)
			store.Before = nil
		}
	})
}

// Text and IPC of a store have the rows of files. The next blocks are requested in advance, and none twice.
func TestStreamsOfObjects(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		defer source.SetTexts(true, 1000, 100)()
		defer source.SetObjects(8, 0, 100, 700)()
		var lines strings.Builder
		for n := range 2000 {
			fmt.Fprintf(&lines, "{\"n\":%d,\"text\":\"%d\"}\n", n, n%9)
		}
		text := manyRows(2000)
		contents := map[string][]byte{
			"a.csv": []byte(text), "a.csv.gz": compressedText(t, ".gz", text), "a.jsonl": []byte(lines.String()),
			"a.arrow": ipcOf(t, true, numbered(0, 900), numbered(900, 1100)), "a.arrows": ipcOf(t, false, numbered(0, 900), numbered(900, 1100)),
		}
		for name, data := range property.InOrder(contents) {
			var store objecttest.Memory
			store.Set(bucket+name, data)
			files := source.Files{Store: &store}
			var s source.Source
			var err error
			switch {
			case strings.Contains(name, "csv"):
				s, err = files.CSV([]string{bucket}, source.CSVOptions{})
			case strings.Contains(name, "json"):
				s, err = files.JSON([]string{bucket}, source.JSONOptions{})
			default:
				s, err = files.IPC([]string{bucket})
			}
			require.NoError(t, err)
			_, err = s.Schema(t.Context())
			require.NoError(t, err)
			store.Reset()
			blocks, following := int64(len(data)+699)/700, make(chan struct{})
			var once sync.Once
			store.Before = func(_ context.Context, _, _ string, _, offset int64) error {
				switch {
				case offset == 4*700 && blocks > 5:
					<-following // it is requested in advance
				case offset == 5*700:
					once.Do(func() { close(following) })
				}
				return nil
			}
			assert.Equal(t, count(0, 2000), numbers(t, read(t, s, m, source.Request{})), name)
			most := blocks + 3 // the end of an IPC file and its beginning
			if dev.Kind() != device.Host {
				most += blocks // the beginning of a text, of up to 1 MiB, is read twice
			}
			assert.LessOrEqual(t, store.Requests.Load(), most, name)
			assert.GreaterOrEqual(t, store.Requests.Load(), blocks-1, name)
		}
	})
}

// Files that are read at the same time share the requests of a query, and each has one block in advance.
func TestBlocksAhead(t *testing.T) {
	assert.EqualValues(t, 16, source.BlocksAhead(1))
	for files := range 200 {
		ahead := source.BlocksAhead(files)
		assert.Positive(t, ahead)
		assert.LessOrEqual(t, ahead, int64(16))
		assert.True(t, ahead == 1 || ahead*int64(files) <= 64, files)
	}
}

// The memory of a row group on the host has its bytes that are fetched from a store.
func TestBytesOfFetchedGroups(t *testing.T) {
	data := parquetOf(t, 1000, numbered(0, 1000))
	var store objecttest.Memory
	store.Set(bucket+"a.parquet", data)
	remote, err := source.GroupBytes(t.Context(), objectOf(t, &store, bucket+"a.parquet"))
	require.NoError(t, err)
	files := fstest.MapFS{"a.parquet": &fstest.MapFile{Data: data}}
	s, err := source.Files{System: files}.Parquet([]string{"a.parquet"})
	require.NoError(t, err)
	local, err := source.GroupBytes(t.Context(), s)
	require.NoError(t, err)
	assert.Greater(t, remote, local)
	assert.LessOrEqual(t, remote, local+int64(len(data)))
}

// A Retry of a program stays that of the requests of a source.
func TestRetryOfAProgram(t *testing.T) {
	var store objecttest.Memory
	calls := 0
	store.Before = func(context.Context, string, string, int64, int64) error {
		calls++
		return objectstore.ErrThrottled
	}
	three := objectstore.WithRetry(&store, objectstore.Retry{Attempts: 3, Pause: time.Nanosecond})
	_, err := source.Files{Store: three}.Parquet([]string{bucket + "a.parquet"})
	require.ErrorIs(t, err, objectstore.ErrThrottled)
	assert.Equal(t, 3, calls)
}

// A URL of a scheme without a module is an error that names the module.
func TestSchemesWithoutModules(t *testing.T) {
	for name, want := range property.InOrder(map[string]string{
		"s3://bucket/a.parquet": "objectstore/s3", "gs://bucket/a.parquet": "objectstore/gcs", "oss://bucket/a.parquet": "no package of a provider is imported",
		"HTTPS://user:secret@host/a.parquet?signature=secret": "write the scheme in small letters",
		"https://user:secret@host/a.parquet?signature=secret": "objectstore/https", "other://a": "no package of a provider is imported",
	}) {
		_, err := source.Files{}.Parquet([]string{name})
		require.ErrorIs(t, err, objectstore.ErrScheme, name)
		assert.ErrorContains(t, err, want)
		assert.NotContains(t, err.Error(), "secret")
	}
	for _, name := range []string{"mem://user:secret@bucket/[", "mem://user:secret@bucket/*.none", "mem://user:secret@buc*/a", "mem://user:secret@bucket/none/"} {
		_, err := source.Files{Store: &objecttest.Memory{}}.Parquet([]string{name})
		require.Error(t, err, name)
		assert.NotContains(t, err.Error(), "secret")
	}
	for _, scheme := range []string{"http", "mem"} { // a web server has no bucket
		_, err := source.Files{Store: &objecttest.Memory{}}.Parquet([]string{scheme + "://ho?t/a.parquet"})
		require.Equal(t, scheme == "mem", errors.Is(err, source.ErrArgument), err)
	}
	_, err := source.Files{}.Parquet([]string{"file:///nowhere/a.parquet"})
	require.ErrorIs(t, err, fs.ErrNotExist)
}
