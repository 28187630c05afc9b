package kernels_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/testing/launchtest"
	"github.com/gpuframe/gpuframe/kernels"
)

// loadKept loads code with a cache and returns the module and the driver calls for it.
func loadKept(t *testing.T, dev *device.Device, gpu *launchtest.GPU, code, directory string) (*kernels.Module, string) {
	t.Helper()
	before := len(gpu.Calls())
	module, err := kernels.LoadWith(dev, code, kernels.LoadOptions{CacheDirectory: directory})
	require.NoError(t, err)
	calls := strings.Join(gpu.Calls()[before:], " ")
	require.NoError(t, module.Close())
	return module, calls
}

func filesIn(t *testing.T, directory string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(directory, "*"))
	require.NoError(t, err)
	return files
}

const (
	compiled = "ModuleCompile ModuleLoad"
	found    = "ModuleLoad"
)

func TestCompiledCodeIsKept(t *testing.T) {
	directory := filepath.Join(t.TempDir(), "new", "directory")
	for round, want := range []string{compiled, found} {
		gpu := &launchtest.GPU{} // as if in another process
		dev := launchtest.Open(t, gpu)
		for _, code := range []string{"code", "other code"} {
			module, calls := loadKept(t, dev, gpu, code, directory)
			assert.Equal(t, want, calls, "round %d", round)
			require.NoError(t, module.CacheFailure())
		}
		assert.Equal(t, []string{launchtest.Cubin + "code", launchtest.Cubin + "other code"}, gpu.Images())
		_, calls := loadKept(t, dev, gpu, "code\x00", directory)
		assert.Equal(t, found, calls, "it is the same text")
		_, calls = loadKept(t, dev, gpu, launchtest.Cubin+"compiled already", directory)
		assert.Equal(t, found, calls)
		_, calls = loadKept(t, dev, gpu, "code", "")
		assert.Equal(t, found, calls)
		assert.Equal(t, "code", gpu.Images()[4], "without a directory the driver gets the text")
	}
	files := filesIn(t, directory)
	require.Len(t, files, 2, "and no file on the way there")
	for _, file := range files {
		assert.Regexp(t, `^[0-9a-f]{64}-sm90-cuda0\.cubin$`, filepath.Base(file))
	}
	info, err := os.Stat(directory)
	require.NoError(t, err)
	assert.Zero(t, info.Mode().Perm()&0o077, "of no use to others")
}

func TestTheVariableNamesTheCache(t *testing.T) {
	directory, given := t.TempDir(), t.TempDir()
	t.Setenv(kernels.CacheVariable, directory)
	gpu := &launchtest.GPU{}
	dev := launchtest.Open(t, gpu)
	_, err := kernels.LoadCached(dev, "code")
	require.NoError(t, err)
	assert.Len(t, filesIn(t, directory), 1)
	_, calls := loadKept(t, dev, gpu, "code", "")
	assert.Equal(t, found, calls)
	_, calls = loadKept(t, dev, gpu, "code", given)
	assert.Equal(t, compiled, calls, "the option stands before the variable")
}

// TestDamagedFiles changes each byte of a file, truncates it at each length, and
// replaces it with another code's file.
func TestDamagedFiles(t *testing.T) {
	directory := t.TempDir()
	gpu := &launchtest.GPU{}
	dev := launchtest.Open(t, gpu)
	loadKept(t, dev, gpu, "other code", directory)
	foreignFile := filesIn(t, directory)[0]
	foreign, err := os.ReadFile(foreignFile)
	require.NoError(t, err)
	require.NoError(t, os.Remove(foreignFile))
	loadKept(t, dev, gpu, "code", directory)
	file := filesIn(t, directory)[0]
	whole, err := os.ReadFile(file)
	require.NoError(t, err)

	damaged := [][]byte{foreign, append(bytes.Clone(whole), 0), []byte("something else"), {}}
	for i := range whole {
		changed := bytes.Clone(whole)
		changed[i] ^= 1
		damaged = append(damaged, changed, whole[:i])
	}
	for _, contents := range damaged {
		require.NoError(t, os.WriteFile(file, contents, 0o600))
		_, calls := loadKept(t, dev, gpu, "code", directory)
		require.Equal(t, compiled, calls)
		_, calls = loadKept(t, dev, gpu, "code", directory)
		require.Equal(t, found, calls, "it was rewritten")
	}
}

func TestTheCacheFails(t *testing.T) {
	gpu := &launchtest.GPU{}
	dev := launchtest.Open(t, gpu)
	noDirectory := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(noDirectory, nil, 0o600))
	module, calls := loadKept(t, dev, gpu, "code", noDirectory)
	assert.Equal(t, compiled, calls)
	require.ErrorContains(t, module.CacheFailure(), "kernels: write the cache: ")

	// A directory with the file's name is not read or replaced.
	directory := t.TempDir()
	loadKept(t, dev, gpu, "code", directory)
	file := filesIn(t, directory)[0]
	require.NoError(t, os.Remove(file))
	require.NoError(t, os.MkdirAll(filepath.Join(file, "something"), 0o700))
	module, calls = loadKept(t, dev, gpu, "code", directory)
	assert.Equal(t, compiled, calls)
	require.ErrorContains(t, module.CacheFailure(), "kernels: read the cache: ")
	assert.Len(t, filesIn(t, directory), 1, "nothing is left of the attempt")

	_, err := kernels.LoadWith(dev, "", kernels.LoadOptions{CacheDirectory: directory})
	require.ErrorIs(t, err, backend.ErrInvalidCode)

	gpu.RefuseCubins = true
	healthy := t.TempDir()
	module, calls = loadKept(t, dev, gpu, "text", healthy)
	assert.Equal(t, "ModuleCompile ModuleLoad ModuleLoad", calls, "and the text in the end")
	require.ErrorIs(t, module.CacheFailure(), backend.ErrInvalidCode)
	assert.Empty(t, filesIn(t, healthy), "what cannot be loaded is not kept")
	gpu.RefuseCubins = false
	loadKept(t, dev, gpu, "text", healthy)
	gpu.RefuseCubins = true
	_, calls = loadKept(t, dev, gpu, "text", healthy)
	assert.Equal(t, "ModuleLoad ModuleCompile ModuleLoad ModuleLoad", calls, "a file that another driver has made")

	gpu.NoCompile = true
	module, calls = loadKept(t, dev, gpu, "new code", directory)
	assert.Equal(t, compiled, calls)
	require.ErrorIs(t, module.CacheFailure(), device.ErrNotSupported)
	assert.Equal(t, "new code", gpu.Images()[len(gpu.Images())-1])
}

// TestOneCacheForMany keeps the same code on several devices at the same time.
func TestOneCacheForMany(t *testing.T) {
	directory := t.TempDir()
	var loaders sync.WaitGroup
	for range 8 {
		gpu := &launchtest.GPU{}
		dev := launchtest.Open(t, gpu)
		loaders.Go(func() {
			for range 20 {
				module, err := kernels.LoadWith(dev, "code", kernels.LoadOptions{CacheDirectory: directory})
				if assert.NoError(t, err) {
					assert.NoError(t, module.CacheFailure())
					assert.NoError(t, module.Close())
				}
			}
			for _, image := range gpu.Images() {
				assert.Equal(t, launchtest.Cubin+"code", image)
			}
		})
	}
	loaders.Wait()
	assert.Len(t, filesIn(t, directory), 1)
}
