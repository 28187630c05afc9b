//go:build cgo && unix && !(386 || arm || mips || mipsle)

package arrowdev_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/arrowdev"
	"github.com/gpuframe/gpuframe/arrowdev/internal/peer"
)

// peerShapes adds what old producers made.
func peerShapes() map[string]peer.Options {
	shapes := peer.Shapes()
	shapes["legacy"] = peer.Options{Length: 5, Quirks: peer.ReservedSet | peer.NamesNull | peer.EmptyIsNull | peer.CPUZero}
	shapes["no offsets"] = peer.Options{Quirks: peer.EmptyIsNull | peer.NoOffsets}
	return shapes
}

// eachPeerArray runs f with every type in every shape.
func eachPeerArray(t *testing.T, f func(t *testing.T, s *peerScene, kind string, options peer.Options)) {
	onEachPeerDevice(t, func(t *testing.T, s *peerScene) {
		seeds := uint64(3)
		if s.cuda {
			seeds = 1 // each buffer is a separate allocation
		}
		for _, kind := range peer.Types() {
			if kind == "+w:0(item=i)" {
				continue // arrow-go has no such type
			}
			t.Run(strings.ReplaceAll(kind, "/", "|"), func(t *testing.T) {
				for name, options := range peerShapes() {
					t.Run(name, func(t *testing.T) {
						for options.Seed = range seeds {
							f(t, s, kind, options)
						}
					})
				}
			})
		}
	})
}

// Columns of imported arrays have the producer's contents.
func TestPeerArraysBecomeColumns(t *testing.T) {
	eachPeerArray(t, func(t *testing.T, s *peerScene, kind string, options peer.Options) {
		for _, unchecked := range []bool{false, true} {
			made := s.produce(t, kind, options, unchecked)
			c, _, err := arrowdev.ImportColumn(s.Manager, made.Device(), made.Schema(), arrowdev.ImportOptions{Unchecked: unchecked})
			require.NoError(t, err)
			require.True(t, peer.Released(made.Device()))
			require.True(t, peer.SchemaReleased(made.Schema()))
			require.Equal(t, made.Text, elementsText(t, c))
			require.Zero(t, peer.Counts())
		}
	})
}

// Tables of imported struct arrays have the producer's contents.
func TestPeerArraysBecomeTables(t *testing.T) {
	eachPeerArray(t, func(t *testing.T, s *peerScene, kind string, options peer.Options) {
		kind = strings.TrimPrefix(kind, "!")
		made := s.produce(t, "!+s(first="+kind+";other=s)", options, true)
		table, err := arrowdev.Import(s.Manager, made.Device(), made.Schema())
		require.NoError(t, err)
		require.True(t, peer.Released(made.Device()))
		require.Equal(t, made.Text, rowsText(t, table))
		require.Zero(t, peer.Counts())
	})
}

// arrow-go's arrays of imported plain CPU arrays have the producer's contents.
func TestPeerArraysBecomeArrowArrays(t *testing.T) {
	eachPeerArray(t, func(t *testing.T, s *peerScene, kind string, options peer.Options) {
		if s.cuda {
			t.Skip("plain arrays are of the CPU")
		}
		made := s.produce(t, kind, options, false)
		got, err := arrowdev.ImportArray(made.Device(), made.Schema())
		require.NoError(t, err)
		require.Equal(t, made.Text, peer.Text(got))
		got.Release()
		require.Zero(t, peer.Counts())

		made = s.produce(t, "!+s(first="+strings.TrimPrefix(kind, "!")+";other=s)", options, false)
		record, err := arrowdev.ImportRecord(made.Device(), made.Schema())
		require.NoError(t, err)
		require.Equal(t, made.Text, peer.RecordText(record))
		record.Release()
		require.Zero(t, peer.Counts())
	})
}

// An imported array is exported again with the same contents.
func TestPeerArraysAreExportedAgain(t *testing.T) {
	eachPeerArray(t, func(t *testing.T, s *peerScene, kind string, options peer.Options) {
		made := s.produce(t, kind, options, true)
		c, field, err := arrowdev.ImportColumn(s.Manager, made.Device(), made.Schema())
		require.NoError(t, err)
		exported, err := arrowdev.ExportColumn(c, field, arrowdev.ExportOptions{Device: s.Device()})
		require.NoError(t, err)
		require.NoError(t, c.Release())
		require.Equal(t, made.Text, s.look(t, exported.Device(), exported.Schema()).Values)
		require.NoError(t, exported.Release())
		require.Zero(t, peer.Counts())
	})
}

// A released array is refused and not released again.
func TestReleasedPeerArrays(t *testing.T) {
	onEachPeerDevice(t, func(t *testing.T, s *peerScene) {
		made := s.produce(t, "!+s(a=i;b=u)", peer.Options{Length: 3}, false)
		peer.ReleaseArray(made.Device())
		_, err := arrowdev.Import(s.Manager, made.Device(), made.Schema())
		require.ErrorIs(t, err, arrowdev.ErrMoved)
		require.True(t, peer.SchemaReleased(made.Schema()))
		_, _, err = arrowdev.ImportColumn(s.Manager, made.Device(), made.Schema())
		require.ErrorIs(t, err, arrowdev.ErrMoved)
	})
}
