//go:build !linux || !cgo || !(amd64 || arm64)

package cuda

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device/backend"
)

func TestNotInThisBuild(t *testing.T) {
	infos, err := Driver{}.Devices()
	require.ErrorIs(t, err, backend.ErrNotAvailable)
	assert.Nil(t, infos)
	d, err := Driver{}.Open(0)
	require.ErrorIs(t, err, backend.ErrNotAvailable)
	assert.Nil(t, d)
	assert.Regexp(t, "built without cgo|on Linux only|on amd64 and arm64 only", err.Error())
}
