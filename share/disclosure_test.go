package share_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/share"
)

// mapped opens a table and returns its contents and all bytes of the memory that the
// client has mapped for it.
func mapped(t testing.TB, client *share.Client, m *memory.Manager, name string) (contents arrow.Record, all []byte) {
	t.Helper()
	table, err := client.Open(t.Context(), m, name)
	require.NoError(t, err)
	defer func() { require.NoError(t, table.Release()) }()
	seen := make(map[*memory.Block]bool)
	for i := range table.NumColumns() {
		for block := range table.Column(i).Blocks {
			if seen[block] {
				continue
			}
			seen[block] = true
			view, err := memory.View[uint8](block, 0, int(block.Bytes()))
			require.NoError(t, err)
			there := make([]byte, block.Bytes())
			require.NoError(t, view.Download(t.Context(), nil, there))
			all = append(all, there...)
		}
	}
	return contentsOf(t, table), all
}

// requireSame compares records column by column. NaN is no reason for a difference.
func requireSame(t testing.TB, want, got arrow.Record) {
	t.Helper()
	require.Equal(t, want.NumRows(), got.NumRows())
	require.Equal(t, want.NumCols(), got.NumCols())
	for i := range int(want.NumCols()) {
		a, b := want.Column(i), got.Column(i)
		require.True(t, array.Equal(a, b) || fmt.Sprint(a) == fmt.Sprint(b), "%v of %d rows\n%v\n%v", a.DataType(), a.Len(), a, b)
	}
}

// contentsOf brings a table to the host until the end of the test.
func contentsOf(t testing.TB, table *buffer.Buffer) arrow.Record {
	t.Helper()
	got, err := table.Record(t.Context())
	require.NoError(t, err)
	t.Cleanup(got.Release)
	return got
}

// registerExtension makes the extension type of arraytest known, which names in a
// schema refer to.
func registerExtension(t testing.TB) {
	t.Helper()
	require.NoError(t, arraytest.RegisterExtension())
	t.Cleanup(func() { require.NoError(t, arrow.UnregisterExtensionType("gpuframe.temperature")) })
}

// The published bytes of a part of a table do not depend on the rest: for every type,
// tables that differ only in the rows around the part and in columns that are not
// selected give clients the same bytes.
func TestAPartDisclosesNothingElse(t *testing.T) {
	registerExtension(t)
	var types []arrow.DataType
	for _, each := range arraytest.AllTypes() {
		if !dictionaryIn(each) { // the dictionary of all rows is the part's, too
			types = append(types, each)
		}
	}
	const rows = 37
	onDevices(t, func(t *testing.T, plain, shareable *memory.Manager) {
		user := devicetest.Manager(t, plain.Device(), memory.Options{})
		server := listen(t, share.ServerOptions{})
		client := dial(t, server)
		for _, test := range []struct {
			ahead int
			nulls arraytest.Nulls
		}{{0, arraytest.SomeNull}, {11, arraytest.SomeNull}, {8, arraytest.NoneNull}} {
			middle := generated(1, test.nulls, types, rows)
			for _, m := range []*memory.Manager{plain, shareable} {
				var disclosed [2][]byte
				for i := range disclosed {
					other := uint64(1000 * (i + 1))
					part := partOf(t, m, test.ahead, rows, generated(other, test.nulls, types, test.ahead), middle, generated(other+1, test.nulls, types, 21))
					publish(t, server, "part", part)
					want := contentsOf(t, part)
					require.NoError(t, part.Release())
					var got arrow.Record
					got, disclosed[i] = mapped(t, client, user, "part")
					requireSame(t, want, got)
					require.NoError(t, server.Withdraw("part"))
				}
				at := firstDifference(disclosed[0], disclosed[1])
				require.Negative(t, at, "%+v, %v: the memory of both parts differs at byte %d", test, m, at)
			}
		}
		waitFor(t, server, func(s share.Stats) bool { return len(s.Tables) == 0 })
	})
}

// generated makes an array of each type.
func generated(seed uint64, nulls arraytest.Nulls, types []arrow.DataType, rows int) (arrays []arrow.Array) {
	g := arraytest.NewGenerator(seed)
	g.Nulls = nulls
	for _, each := range types {
		arrays = append(arrays, g.Array(each, rows))
	}
	return arrays
}

func firstDifference(a, b []byte) int {
	if bytes.Equal(a, b) {
		return -1
	}
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// partOf makes a table of three parts, which has every column twice, and returns its
// middle part with every column once.
func partOf(t testing.TB, m *memory.Manager, ahead, rows int, parts ...[]arrow.Array) *buffer.Buffer {
	t.Helper()
	var chunks [][]arrow.Array
	var fields []arrow.Field
	var names []string
	for i := range parts[0] {
		of := []arrow.Array{parts[0][i], parts[1][i], parts[2][i]}
		hidden, shown := fmt.Sprint("hidden ", i), fmt.Sprint("shown ", i)
		for _, name := range []string{hidden, shown} {
			fields = append(fields, arrow.Field{Name: name, Type: of[0].DataType(), Nullable: true})
			chunks = append(chunks, of)
		}
		names = append(names, shown)
	}
	columns, err := column.FromArrays(t.Context(), m, chunks, column.UploadOptions{})
	require.NoError(t, err)
	whole, err := buffer.New(arrow.NewSchema(fields, nil), columns, buffer.Rows{Count: int64(columns[0].Len())})
	require.NoError(t, err)
	selected, err := whole.Select(names...)
	require.NoError(t, err)
	part, err := selected.Slice(int64(ahead), int64(rows))
	require.NoError(t, err)
	require.NoError(t, whole.Release())
	require.NoError(t, selected.Release())
	for _, c := range columns {
		require.NoError(t, c.Release())
	}
	return part
}

func dictionaryIn(t arrow.DataType) bool {
	if t.ID() == arrow.DICTIONARY {
		return true
	}
	if extension, ok := t.(arrow.ExtensionType); ok {
		return dictionaryIn(extension.StorageType())
	}
	nested, ok := t.(arrow.NestedType)
	if !ok {
		return false
	}
	for _, field := range nested.Fields() {
		if dictionaryIn(field.Type) {
			return true
		}
	}
	return false
}

// Every slice of every type arrives unchanged, for all offsets of its buffers, children
// and dictionaries.
func TestSlicesOfEveryType(t *testing.T) {
	registerExtension(t)
	onDevices(t, func(t *testing.T, plain, shareable *memory.Manager) {
		server := listen(t, share.ServerOptions{})
		client, user := dial(t, server), devicetest.Manager(t, plain.Device(), memory.Options{})
		g := arraytest.NewGenerator(1)
		g.Sliced = true
		var arrays []arrow.Array
		var fields []arrow.Field
		for i, each := range arraytest.AllTypes() {
			arrays = append(arrays, g.Array(each, 50))
			fields = append(fields, arrow.Field{Name: fmt.Sprint("c", i), Type: each, Nullable: true})
		}
		for _, m := range []*memory.Manager{plain, shareable} {
			whole := upload(t, m, array.NewRecord(arrow.NewSchema(fields, nil), arrays, 50))
			for _, cut := range [][2]int64{{0, 50}, {0, 13}, {8, 40}, {13, 50}, {49, 50}, {20, 20}} {
				part, err := whole.Slice(cut[0], cut[1]-cut[0])
				require.NoError(t, err)
				publish(t, server, "part", part)
				want := contentsOf(t, part)
				require.NoError(t, part.Release())
				got, _ := mapped(t, client, user, "part")
				requireSame(t, want, got)
				require.NoError(t, server.Withdraw("part"))
			}
		}
	})
}

// A selection of columns that fill their blocks is shared where it lies; one that
// leaves something out of them is copied.
func TestWhatIsSharedInPlace(t *testing.T) {
	onDevices(t, func(t *testing.T, _, shareable *memory.Manager) {
		server := listen(t, share.ServerOptions{Manager: shareable}) // which counts the copies
		whole := upload(t, shareable, record(t, 300))
		other := upload(t, shareable, record(t, 300))
		wide, err := whole.AppendColumn(arrow.Field{Name: "other", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, other.Column(0))
		require.NoError(t, err)
		back, err := wide.Select(whole.Schema().Field(0).Name, "fraction", "truth", "text", "view", "list", "three", "pair", "word", "nothing")
		require.NoError(t, err)
		few, err := whole.Slice(0, 299)
		require.NoError(t, err)
		two, err := whole.Select("number", "text")
		require.NoError(t, err)
		for name, test := range map[string]struct {
			table   *buffer.Buffer
			inPlace bool
		}{"whole": {whole, true}, "all columns of it": {back, true}, "one column of another's": {wide, false}, "a row less": {few, false}, "two columns": {two, false}} {
			before := shareable.Stats().Allocations
			publish(t, server, name, test.table)
			assert.Equal(t, test.inPlace, shareable.Stats().Allocations == before, name)
		}
		for _, table := range []*buffer.Buffer{wide, back, few, two} {
			require.NoError(t, table.Release())
		}
		require.NoError(t, server.Close())
	})
}
