//go:build cgo && unix && !(386 || arm || mips || mipsle)

package arrowdev_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/arrowdev"
	"github.com/gpuframe/gpuframe/arrowdev/internal/arraytest"
	"github.com/gpuframe/gpuframe/arrowdev/internal/peer"
)

// A consumer that knows nothing but the standard sees in every export what
// arrow-go sees in the record.
func TestPeerReadsEveryExport(t *testing.T) {
	for number, kind := range arraytest.AllTypes() {
		t.Run(fmt.Sprint(number, " ", kind), func(t *testing.T) {
			onEachDevice(t, func(t *testing.T, s *scene) {
				for seed, nulls := range []arraytest.Nulls{arraytest.SomeNull, arraytest.SomeNull, arraytest.NoneNull, arraytest.AllNull} {
					for _, n := range []int{0, 1, 41} {
						readExports(t, s, generated(t, kind, uint64(seed), n, nulls))
					}
				}
			})
		})
	}
}

// readExports has the peer read a table, some slices of it, and its first column.
func readExports(t *testing.T, s *scene, record arrow.Record) {
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
		exported, err := arrowdev.Export(part)
		require.NoError(t, err)
		require.Equal(t, peer.RecordText(shown), s.look(t, exported.Device(), exported.Schema()).Values)
		require.NoError(t, exported.Release())

		field := record.Schema().Field(0)
		exported, err = arrowdev.ExportColumn(part.Column(0), field)
		require.NoError(t, err)
		require.NoError(t, part.Release())
		require.Equal(t, peer.Text(shown.Column(0)), s.look(t, exported.Device(), exported.Schema()).Values)
		require.NoError(t, exported.Release())
		shown.Release()
	}
}

// Consumers move the structs, take them apart, release them on threads of their
// own, and gpuframe's own handle may be let go before or after.
func TestPeerConsumesExports(t *testing.T) {
	onEachDevice(t, func(t *testing.T, s *scene) {
		kinds := arraytest.AllTypes()
		for seed := range uint64(24) {
			record := generated(t, kinds[int(seed*7)%len(kinds)], seed, 20, arraytest.SomeNull)
			table := s.upload(t, record)
			exported, err := arrowdev.Export(table)
			require.NoError(t, err)
			array, schema := cell(t, peer.DeviceArrayBytes), cell(t, peer.SchemaBytes)
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
				for child, text := range children(seen.Values) {
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

// children takes the values of a dismantled array apart.
func children(values string) map[string]string {
	parts := map[string]string{}
	for _, part := range strings.Split(values, "child ")[1:] {
		number, text, _ := strings.Cut(part, "\n")
		parts[number] = text
	}
	return parts
}
