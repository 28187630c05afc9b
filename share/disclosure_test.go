package share_test

import (
	"bytes"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arraytest"
	"github.com/gpuframe/gpuframe/internal/devicetest"
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

// What a part of a table is published with does not depend on what the part leaves
// out: for every type, tables that differ in the rows around the part only, and in a
// column that is not selected, give clients the same bytes.
func TestAPartDisclosesNothingElse(t *testing.T) {
	registerExtension(t)
	onDevices(t, func(t *testing.T, plain, shareable *memory.Manager) {
		user := devicetest.Manager(t, plain.Device(), memory.Options{})
		for number, dataType := range arraytest.AllTypes() {
			if dictionaryIn(dataType) {
				continue // the dictionary of all rows is the part's, too
			}
			t.Run(dataType.String(), func(t *testing.T) {
				server := listen(t, share.ServerOptions{})
				client := dial(t, server)
				for _, ahead := range []int{0, 11} {
					for _, nulls := range []arraytest.Nulls{arraytest.SomeNull, arraytest.NoneNull}[:1+min(ahead, 1)] {
						shown := arraytest.NewGenerator(uint64(number))
						shown.Nulls = nulls
						middle := shown.Array(dataType, 37)
						for _, m := range []*memory.Manager{plain, shareable} {
							var disclosed [][]byte
							for seed := range uint64(2) {
								other := arraytest.NewGenerator(1000 + 50*seed + uint64(number))
								other.Nulls = nulls
								part := partOf(t, m, ahead, other.Array(dataType, ahead), middle, other.Array(dataType, 21))
								publish(t, server, "part", part)
								want := contentsOf(t, part)
								require.NoError(t, part.Release())
								got, all := mapped(t, client, user, "part")
								require.True(t, array.RecordEqual(want, got), "%v\n%v", want, got)
								disclosed = append(disclosed, all)
								require.NoError(t, server.Withdraw("part"))
							}
							require.True(t, bytes.Equal(disclosed[0], disclosed[1]),
								"%d rows ahead, nulls %v, %v: the memory of both parts differs", ahead, nulls, m)
						}
					}
				}
				await(t, server, func(s share.Stats) bool { return len(s.Tables) == 0 })
			})
		}
	})
}

// partOf returns the middle of three arrays, as a slice of a table that has another
// column.
func partOf(t testing.TB, m *memory.Manager, ahead int, arrays ...arrow.Array) *buffer.Buffer {
	t.Helper()
	columns, err := column.FromArrays(t.Context(), m, [][]arrow.Array{arrays, arrays}, column.UploadOptions{})
	require.NoError(t, err)
	field := func(name string) arrow.Field {
		return arrow.Field{Name: name, Type: arrays[0].DataType(), Nullable: true}
	}
	whole, err := buffer.New(arrow.NewSchema([]arrow.Field{field("hidden"), field("shown")}, nil), columns, buffer.Rows{Count: int64(columns[0].Len())})
	require.NoError(t, err)
	one, err := whole.Select("shown")
	require.NoError(t, err)
	part, err := one.Slice(int64(ahead), int64(arrays[1].Len()))
	require.NoError(t, err)
	require.NoError(t, whole.Release())
	require.NoError(t, one.Release())
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

// Every slice of every type arrives as it is, whatever offsets its buffers, children
// and dictionaries have.
func TestSlicesOfEveryType(t *testing.T) {
	registerExtension(t)
	onDevices(t, func(t *testing.T, plain, shareable *memory.Manager) {
		server := listen(t, share.ServerOptions{})
		client, user := dial(t, server), devicetest.Manager(t, plain.Device(), memory.Options{})
		for number, dataType := range arraytest.AllTypes() {
			g := arraytest.NewGenerator(uint64(number))
			g.Sliced = true
			schema := arrow.NewSchema([]arrow.Field{{Name: "c", Type: dataType, Nullable: true}}, nil)
			for _, m := range []*memory.Manager{plain, shareable} {
				whole := upload(t, m, array.NewRecord(schema, []arrow.Array{g.Array(dataType, 50)}, 50))
				for _, cut := range [][2]int64{{0, 50}, {0, 13}, {8, 40}, {13, 50}, {20, 20}} {
					part, err := whole.Slice(cut[0], cut[1]-cut[0])
					require.NoError(t, err)
					publish(t, server, "part", part)
					want := contentsOf(t, part)
					require.NoError(t, part.Release())
					got, _ := mapped(t, client, user, "part")
					require.True(t, array.RecordEqual(want, got), "%v, rows %v\n%v\n%v", dataType, cut, want, got)
					require.NoError(t, server.Withdraw("part"))
				}
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
