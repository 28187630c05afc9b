package kerneltest

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/op/kernelset/archive"
)

// TestRepositoryLoads compiles every committed PTX file.
func TestRepositoryLoads(t *testing.T) {
	b := open(t, Options{})
	root := filepath.Join("..", "..")
	plain, packed := 0, 0
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		name, isPacked := strings.CutSuffix(path, ".packed")
		if err != nil || !strings.HasSuffix(name, ".ptx") || strings.HasPrefix(path, filepath.Join(root, "build")) {
			return err
		}
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		if isPacked {
			packed++
			require.NoFileExists(t, name, "its archive would hide it: kernels/build.sh writes the archive")
			unpacked, err := archive.Text(text)
			require.NoError(t, err, path)
			text = []byte(unpacked)
		} else {
			plain++
		}
		t.Run(path, func(t *testing.T) {
			handle, err := b.e.ModuleLoad(text)
			require.NoError(t, err)
			require.NoError(t, b.e.ModuleUnload(handle))
		})
		return nil
	})
	require.NoError(t, err)
	require.Positive(t, plain)
	require.Positive(t, packed)
}
