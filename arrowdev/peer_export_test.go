//go:build cgo && unix && !(386 || arm || mips || mipsle)

package arrowdev_test

import (
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/cdata"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/arrowdev"
	"github.com/gpuframe/gpuframe/arrowdev/internal/peer"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
)

// A consumer that implements only the standard reads the same from every export as
// arrow-go reads from the record.
func TestPeerReadsEveryExport(t *testing.T) {
	onEachPeerDevice(t, func(t *testing.T, s *peerScene) {
		for number, kind := range arraytest.AllTypes() {
			t.Run(fmt.Sprint(number, " ", kind), func(t *testing.T) {
				for seed, nulls := range []arraytest.Nulls{arraytest.SomeNull, arraytest.SomeNull, arraytest.NoneNull, arraytest.AllNull} {
					for _, n := range []int{0, 1, 41} {
						readExports(t, s, generatedRecord(t, kind, uint64(seed), n, nulls))
					}
				}
			})
		}
	})
}

// readExports has the peer read a table, some slices of it, and its first column.
func readExports(t *testing.T, s *peerScene, record arrow.Record) {
	t.Helper()
	table := s.upload(t, record)
	defer func() { require.NoError(t, table.Release()) }()
	for _, cut := range [][2]int64{{0, record.NumRows()}, {3, 13}, {8, 0}, {9, 32}} {
		if cut[0]+cut[1] > record.NumRows() {
			continue
		}
		part, err := table.Slice(cut[0], cut[1])
		require.NoError(t, err)
		shown := record.NewSlice(cut[0], cut[0]+cut[1])
		exported, err := arrowdev.Export(part, arrowdev.ExportOptions{Device: s.Device()})
		require.NoError(t, err)
		require.Equal(t, peer.RecordText(shown), s.look(t, exported.Device(), exported.Schema()).Values)
		require.NoError(t, exported.Release())

		field := record.Schema().Field(0)
		exported, err = arrowdev.ExportColumn(part.Column(0), field, arrowdev.ExportOptions{Device: s.Device()})
		require.NoError(t, err)
		require.NoError(t, part.Release())
		require.Equal(t, peer.Text(shown.Column(0)), s.look(t, exported.Device(), exported.Schema()).Values)
		require.NoError(t, exported.Release())
		shown.Release()
	}
}

// The peer reads the same schemas as arrow-go.
func TestPeerReadsSchemas(t *testing.T) {
	newHostPeerScene(t)
	metadata := arrow.NewMetadata([]string{"unit", "", "unit"}, []string{"m", "\x00\xff", ""})
	ours, theirs := peerCell(t, peer.SchemaBytes), peerCell(t, peer.SchemaBytes)
	for number, kind := range arraytest.AllTypes() {
		if strings.Contains(kind.String(), "dictionary<") {
			continue // arrow-go never frees the schemas of dictionaries, and loses those of extension types
		}
		field := arrow.Field{Name: fmt.Sprint("field ä ", number), Type: kind, Nullable: number%2 == 0}
		if number%3 == 0 {
			field.Metadata = metadata
		}
		require.NoError(t, arrowdev.ExportField(field, ours))
		cdata.ExportArrowSchema(arrow.NewSchema([]arrow.Field{field}, &metadata), (*cdata.CArrowSchema)(theirs))
		want, got := schemaText(theirs), peer.LookPlain(nil, ours, peer.View{})
		require.Empty(t, got.Problems, kind)
		require.Contains(t, want, " ("+schemaText(ours)+")", kind)
		peer.ReleaseSchemaOnThread(ours)

		require.NoError(t, arrowdev.ExportSchema(arrow.NewSchema([]arrow.Field{field}, &metadata), ours))
		require.Equal(t, want, schemaText(ours), kind)
		peer.ReleaseSchema(ours)
		peer.ReleaseSchema(theirs)
	}
}

// schemaText is a schema as text, without the empty metadata that arrow-go writes if
// a field has none.
func schemaText(schema unsafe.Pointer) string {
	return strings.ReplaceAll(peer.LookPlain(nil, schema, peer.View{}).Type, " {}", "")
}

// Consumers move the structs, take them apart and release them on other threads.
// gpuframe's Array may be released before or after.
func TestPeerConsumesExports(t *testing.T) {
	onEachPeerDevice(t, func(t *testing.T, s *peerScene) {
		kinds := arraytest.AllTypes()
		for seed := range uint64(24) {
			record := generatedRecord(t, kinds[int(seed*7)%len(kinds)], seed, 20, arraytest.SomeNull)
			table := s.upload(t, record)
			exported, err := arrowdev.Export(table, arrowdev.ExportOptions{Device: s.Device()})
			require.NoError(t, err)
			array, schema := peerCell(t, peer.DeviceArrayBytes), peerCell(t, peer.SchemaBytes)
			require.NoError(t, exported.MoveTo(array, schema))
			if seed%2 == 0 {
				require.NoError(t, table.Release())
				require.NoError(t, exported.Release())
			}
			s.look(t, array, schema)
			switch seed % 4 {
			case 0:
				peer.ReleaseArrayOnThread(array)
			case 1:
				peer.ReleaseArray(array)
			case 2, 3:
				order := peer.Order(seed / 4 % 2)
				seen := peer.Dismantle(array, schema, order, seed, s.view)
				require.Empty(t, seen.Problems)
				want := map[string]string{"0": peer.Text(record.Column(0)), "1": peer.Text(record.Column(1))}
				for child, text := range childTexts(seen.Values) {
					require.Equal(t, want[child], text)
				}
			}
			require.True(t, peer.Released(array))
			peer.ReleaseSchemaOnThread(schema)
			require.True(t, peer.SchemaReleased(schema))
			if seed%2 == 1 {
				require.NoError(t, exported.Release())
				require.NoError(t, table.Release())
			}
			s.requireNothing(t)
		}
	})
}

// childTexts splits the values of a dismantled array.
func childTexts(values string) map[string]string {
	parts := map[string]string{}
	for _, part := range strings.Split(values, "child ")[1:] {
		number, text, _ := strings.Cut(part, "\n")
		parts[number] = text
	}
	return parts
}
