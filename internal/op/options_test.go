package op_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
)

func TestOnlyOneOption(t *testing.T) {
	none, err := op.Only[kernels.Options](nil)
	require.NoError(t, err)
	require.Zero(t, none)
	one, err := op.Only([]kernels.Options{{Tag: "tag"}})
	require.NoError(t, err)
	require.Equal(t, "tag", one.Tag)
	_, err = op.Only([]kernels.Options{{Tag: "tag"}, {}})
	require.ErrorIs(t, err, device.ErrInvalidValue)
	require.ErrorContains(t, err, "2 kernels.Options")
}
