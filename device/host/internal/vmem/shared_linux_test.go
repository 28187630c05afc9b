package vmem_test

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/gpuframe/gpuframe/device/host/internal/vmem"
)

func exported(t *testing.T, readOnly bool) (vmem.Memory, int) {
	t.Helper()
	if !vmem.CanShare() {
		t.Skip("the system shares no memory")
	}
	memory, err := vmem.CreateShared(unit)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, memory.Close()) })
	descriptor, err := memory.Export(readOnly)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, unix.Close(descriptor)) })
	return memory, descriptor
}

// The kernel enforces the seals for every process that has the descriptor.
func TestTheKernelKeepsReadersFromWriting(t *testing.T) {
	_, descriptor := exported(t, true)
	flags, err := unix.FcntlInt(uintptr(descriptor), unix.F_GETFD, 0)
	require.NoError(t, err)
	assert.NotZero(t, flags&unix.FD_CLOEXEC, "programs that are started do not have it")

	_, err = unix.Write(descriptor, []byte{1})
	assert.Error(t, err)
	_, err = unix.Mmap(descriptor, 0, unit, unix.PROT_WRITE, unix.MAP_SHARED)
	assert.Error(t, err)
	assert.Error(t, unix.Ftruncate(descriptor, 0))

	// Another opening, which a process of the same user can make, cannot write either.
	again, err := unix.Open("/proc/self/fd/"+strconv.Itoa(descriptor), unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer unix.Close(again)
	assert.Error(t, unix.Ftruncate(again, 0), "the size is sealed")
	seals, err := unix.FcntlInt(uintptr(again), unix.F_GET_SEALS, 0)
	require.NoError(t, err)
	if seals&unix.F_SEAL_FUTURE_WRITE == 0 {
		t.Log("this kernel cannot seal the contents")
		return
	}
	_, err = unix.Write(again, []byte{1})
	assert.Error(t, err)
	_, err = unix.Mmap(again, 0, unit, unix.PROT_WRITE, unix.MAP_SHARED)
	assert.Error(t, err)
}

func TestImportReportsReadOnly(t *testing.T) {
	for _, readOnly := range []bool{false, true} {
		memory, descriptor := exported(t, readOnly)
		imported, err := vmem.Import(descriptor, unit)
		require.NoError(t, err)
		assert.Equal(t, readOnly, imported.ReadOnly())
		assert.False(t, memory.ReadOnly(), "its maker writes where it has mapped it")
		assert.True(t, imported.Shared() && memory.Shared())
		require.NoError(t, imported.Close())
	}
}

// If memory could be truncated, a process that reads it could be ended.
func TestImportRefusesUnsealedMemory(t *testing.T) {
	_, descriptor := exported(t, true)
	plain, err := unix.MemfdCreate("plain", unix.MFD_CLOEXEC)
	require.NoError(t, err)
	require.NoError(t, unix.Ftruncate(plain, unit))
	defer unix.Close(plain)
	unsealed, err := unix.MemfdCreate("unsealed", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	require.NoError(t, err)
	require.NoError(t, unix.Ftruncate(unsealed, unit))
	defer unix.Close(unsealed)
	file, err := os.Create(filepath.Join(t.TempDir(), "file"))
	require.NoError(t, err)
	defer file.Close()
	require.NoError(t, file.Truncate(unit))

	for name, other := range map[string]int{
		"a file": int(file.Fd()), "not sealed": unsealed, "not to be sealed": plain, "none": -1, "closed": 1 << 20,
	} {
		_, err := vmem.Import(other, unit)
		assert.ErrorIs(t, err, vmem.ErrNotShared, name)
	}
	_, err = vmem.Import(descriptor, 2*unit)
	assert.ErrorIs(t, err, vmem.ErrNotShared, "of another size")
}
