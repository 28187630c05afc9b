package share_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/await"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/share"
)

// schema has a column of each sort of layout.
func schema() *arrow.Schema {
	field := func(name string, t arrow.DataType) arrow.Field {
		return arrow.Field{Name: name, Type: t, Nullable: true}
	}
	metadata := arrow.NewMetadata([]string{"made by"}, []string{"a test"})
	return arrow.NewSchema([]arrow.Field{
		field("number", arrow.PrimitiveTypes.Int64),
		field("fraction", arrow.PrimitiveTypes.Float32),
		field("truth", arrow.FixedWidthTypes.Boolean),
		field("text", arrow.BinaryTypes.String),
		field("view", arrow.BinaryTypes.StringView),
		field("list", arrow.ListOf(arrow.PrimitiveTypes.Int16)),
		field("three", arrow.FixedSizeListOf(3, arrow.PrimitiveTypes.Int8)),
		field("pair", arrow.StructOf(field("a", arrow.PrimitiveTypes.Int32), field("b", arrow.BinaryTypes.String))),
		field("word", &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}),
		field("nothing", arrow.Null),
	}, &metadata)
}

// record makes a record of every type with that number of rows. It lives until the end of
// the test.
func record(t testing.TB, rows int) arrow.Record {
	t.Helper()
	var lines strings.Builder
	for i := range rows {
		text := fmt.Sprintf("%q", strings.Repeat("x", i%20))
		if i%7 == 3 {
			text = "null"
		}
		fmt.Fprintf(&lines, `{"number":%d,"fraction":%d.5,"truth":%t,"text":%s,"view":%s,"list":[%d,null],"three":[1,%d,3],"pair":{"a":%d,"b":%s},"word":"w%d"}`+"\n",
			i, i%100, i%3 == 0, text, text, i%1000, i%100, i, text, i%5)
	}
	made, _, err := array.RecordFromJSON(arrowmemory.DefaultAllocator, schema(), strings.NewReader("["+strings.ReplaceAll(strings.TrimSpace(lines.String()), "\n", ",")+"]"))
	require.NoError(t, err)
	t.Cleanup(made.Release)
	return made
}

// upload moves a record to a device until the end of the test.
func upload(t testing.TB, m *memory.Manager, r arrow.Record) *buffer.Buffer {
	t.Helper()
	table, err := buffer.FromRecord(m, r)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, table.Release()) })
	return table
}

func requireRecord(t testing.TB, want arrow.Record, table *buffer.Buffer) {
	t.Helper()
	got, err := table.Record(t.Context())
	require.NoError(t, err)
	defer got.Release()
	require.True(t, want.Schema().Equal(got.Schema()), "%v\n%v", want.Schema(), got.Schema())
	require.True(t, array.RecordEqual(want, got), "%v\n%v", want, got)
}

// socket returns a path that is short enough.
func socket(t testing.TB) string {
	t.Helper()
	directory, err := os.MkdirTemp("", "share")
	require.NoError(t, err)
	t.Cleanup(func() {
		left, err := os.ReadDir(directory)
		require.NoError(t, err)
		require.Empty(t, left, "files that a server has left")
		require.NoError(t, os.RemoveAll(directory))
	})
	return filepath.Join(directory, "socket")
}

// listen serves until the end of the test, which fails if goroutines or descriptors
// are left.
func listen(t testing.TB, options share.ServerOptions) *share.Server {
	t.Helper()
	requireNothingLeft(t)
	if options.Patience == 0 {
		options.Patience = await.Limit // the machine may be slow
	}
	server, err := share.ListenContext(t.Context(), socket(t), options)
	if errors.Is(err, device.ErrNotAvailable) {
		t.Skip(err)
	}
	require.NoError(t, err)
	t.Cleanup(func() {
		if err := server.Close(); !errors.Is(err, share.ErrClosed) {
			require.NoError(t, err)
		}
	})
	return server
}

// dial connects until the end of the test.
func dial(t testing.TB, server *share.Server) *share.Client {
	t.Helper()
	client, err := share.DialContext(t.Context(), server.Path())
	require.NoError(t, err)
	t.Cleanup(func() {
		if err := client.Close(); !errors.Is(err, share.ErrClosed) {
			require.NoError(t, err)
		}
	})
	return client
}

// publish skips the test on a device that shares no memory.
func publish(t testing.TB, server *share.Server, name string, table *buffer.Buffer, options ...share.PublishOptions) {
	t.Helper()
	err := server.Publish(t.Context(), name, table, options...)
	if errors.Is(err, device.ErrNotSupported) {
		t.Skipf("no shared memory here: %v", err)
	}
	require.NoError(t, err)
}

// waitFor waits until the server's figures are as they should be.
func waitFor(t testing.TB, server *share.Server, until func(share.Stats) bool) share.Stats {
	t.Helper()
	stats, err := server.Wait(await.Context(t), until)
	require.NoError(t, err, "%+v", stats)
	return stats
}

func referencesOf(name string, references int) func(share.Stats) bool {
	return func(s share.Stats) bool {
		table, ok := s.Table(name)
		return ok && table.References == references
	}
}

// requireNothingLeft checks at the end of the test.
func requireNothingLeft(t testing.TB) {
	t.Helper()
	before := descriptors(t)
	t.Cleanup(func() {
		await.Ended(t, "github.com/gpuframe/gpuframe/share.(")
		require.LessOrEqual(t, descriptors(t), before, "descriptors are left")
	})
}

// descriptors counts the open descriptors of the process, without those of a GPU's
// driver.
func descriptors(t testing.TB) int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0 // not Linux
	}
	count := 0
	for _, entry := range entries {
		target, err := os.Readlink("/proc/self/fd/" + entry.Name())
		if err == nil && (strings.HasPrefix(target, "socket:") || strings.Contains(target, "memfd:gpuframe")) {
			count++
		}
	}
	return count
}

// onDevices runs a test on every device that can share. The memory of plain cannot be
// shared in place, that of shareable can.
func onDevices(t *testing.T, f func(t *testing.T, plain, shareable *memory.Manager)) {
	t.Helper()
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		resource := memory.NewSharedResource(dev)
		allocation, err := resource.Allocate(1, dev.DefaultStream())
		if errors.Is(err, device.ErrNotSupported) {
			t.Skipf("no shared memory here: %v", err)
		}
		require.NoError(t, err)
		require.NoError(t, resource.Free(allocation, nil))
		f(t, devicetest.Manager(t, dev, memory.Options{}), devicetest.Manager(t, dev, memory.Options{Resource: memory.NewSharedResource(dev)}))
	})
}

var numbersSchema = arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}}, nil)

// checksum is another one for every table, and the same in every process.
func checksum(table *buffer.Buffer) (string, error) {
	got, err := table.Record(context.Background())
	if err != nil {
		return "", err
	}
	defer got.Release()
	text, err := got.MarshalJSON()
	return fmt.Sprintf("%d rows, %x", got.NumRows(), sha256.Sum256(text)), err
}
