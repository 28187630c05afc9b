//go:build cgo && unix && !(386 || arm)

package dlpack_test

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/dlpack"
)

func TestTensorString(t *testing.T) {
	m := hostManager(t)
	show := func(c *column.Column, options ...dlpack.ExportOptions) string {
		tensor, err := dlpack.Export(c, options...)
		require.NoError(t, err)
		defer func() { require.NoError(t, tensor.Release()) }()
		return tensor.String()
	}
	c := newInts(t, m, 6)
	require.Equal(t, "DLPack tensor of 6 int32 on cpu", show(c))
	require.Equal(t, "legacy DLPack tensor of 6 int32 on cpu", show(c, dlpack.ExportOptions{Legacy: true}))
	tensor, err := dlpack.Export(c)
	require.NoError(t, err)
	pointer := tensor.Detach()
	require.Equal(t, "detached DLPack tensor of 6 int32 on cpu", tensor.String())
	back, err := dlpack.Import(m, pointer)
	require.NoError(t, err)
	require.Equal(t, "ended DLPack tensor of 6 int32 on cpu", tensor.String())
	require.NoError(t, back.Release())
	lists := newLists(t, arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int32), 0, 3, c)
	require.Equal(t, "DLPack tensor of 3 × 2 int32 on cpu", show(lists))
	require.NoError(t, lists.Release())
	bools := newColumn(t, m, column.Data{Type: arrow.FixedWidthTypes.Boolean, Length: 8}, nil, []byte{1})
	require.Equal(t, "DLPack tensor of 8 bool on cpu, a copy", show(bools))
	require.NoError(t, bools.Release())
	halves := newColumn(t, m, column.Data{Type: dlpack.BFloat16, Length: 8}, nil, pattern(16))
	require.Equal(t, "DLPack tensor of 8 bfloat16 on cpu", show(halves))
	require.NoError(t, halves.Release())
	require.Equal(t, "nil DLPack tensor", (*dlpack.Tensor)(nil).String())
	requireNothingHeld(t, m)
}
