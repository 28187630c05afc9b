package address_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/base/address"
)

func TestValuesAsBytes(t *testing.T) {
	values := []uint32{1, 0x04030201}
	bytes := address.BytesOf(values)
	require.Len(t, bytes, 8)
	require.Equal(t, values, address.ValuesOf[uint32](bytes))
	require.Equal(t, values[:1], address.ValuesOf[uint32](bytes[:7]), "whole values only")
	bytes[0] = 7
	require.NotEqual(t, uint32(1), values[0], "they share memory")
	require.Nil(t, address.BytesOf([]uint64{}))
	require.Nil(t, address.ValuesOf[uint64](bytes[:7]))
}
