package emulator

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRepositoryLoads compiles every committed PTX file.
func TestRepositoryLoads(t *testing.T) {
	b := open(t, Options{})
	root := filepath.Join("..", "..")
	found := 0
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".ptx") || strings.HasPrefix(path, filepath.Join(root, "build")) {
			return err
		}
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		found++
		t.Run(path, func(t *testing.T) {
			handle, err := b.e.ModuleLoad(text)
			require.NoError(t, err)
			require.NoError(t, b.e.ModuleUnload(handle))
		})
		return nil
	})
	require.NoError(t, err)
	require.Positive(t, found)
}
