package operator_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/internal/operator"
)

func TestOnlyOneOption(t *testing.T) {
	none, err := operator.Only[kernels.Options](nil)
	require.NoError(t, err)
	require.Zero(t, none)
	one, err := operator.Only([]kernels.Options{{Tag: "tag"}})
	require.NoError(t, err)
	require.Equal(t, "tag", one.Tag)
	_, err = operator.Only([]kernels.Options{{Tag: "tag"}, {}})
	require.ErrorIs(t, err, device.ErrInvalidValue)
	require.ErrorContains(t, err, "2 kernels.Options")
}
