//go:build cgo && unix && !(386 || arm || mips || mipsle)

package peer_test

import (
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/cdata"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/arrowdev/internal/peer"
)

// TestArrowGoReadsProducedArrays compares with arrow-go as a third implementation: it
// imports the producer's arrays, and the consumer reads its exports of them.
func TestArrowGoReadsProducedArrays(t *testing.T) {
	balanced(t)
	each(t, peer.Types(), func(t *testing.T, kind string, options peer.Options) {
		if kind == "+w:0(item=i)" || kind == "+s()" || options.Length == 0 || options.Quirks&peer.UnknownNulls != 0 {
			t.Skip("arrow-go does not have it, or refuses it and frees it twice then")
		}
		made := produce(t, kind, options)
		_, got, err := cdata.ImportCArray((*cdata.CArrowArray)(made.Device()), (*cdata.CArrowSchema)(made.Schema()))
		require.NoError(t, err)
		defer got.Release()
		require.Equal(t, made.Text, peer.Text(got))
		if options.Ahead+options.ChildrenAhead > 0 {
			return // arrow-go exports a struct array with an offset that its children contain already
		}
		if strings.ContainsAny(kind, "<v") {
			return // arrow-go leaks memory in exports of dictionaries and views
		}
		array, schema := peer.Cell(peer.ArrayBytes), peer.Cell(peer.SchemaBytes)
		defer peer.Free(array)
		defer peer.Free(schema)
		cdata.ExportArrowArray(got, (*cdata.CArrowArray)(array), (*cdata.CArrowSchema)(schema))
		defer peer.ReleaseArrayOnThread(array)
		defer peer.ReleaseSchemaOnThread(schema)
		seen := peer.LookPlain(array, schema, peer.View{})
		require.Empty(t, seen.Problems)
		require.Equal(t, made.Text, seen.Values)
	})
}
