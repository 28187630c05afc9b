package vmem

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// CanShare reports whether memory can be shared with other processes. Every kernel with
// unnamed files has seals, but a sandbox may forbid them.
var CanShare = sync.OnceValue(func() bool {
	memory, err := CreateShared(Granularity)
	if err != nil {
		return false
	}
	defer memory.Close()
	descriptor, err := memory.Export(true)
	if err != nil {
		return false
	}
	defer unix.Close(descriptor)
	other, err := Import(descriptor, Granularity)
	return err == nil && other.Close() == nil
})

// sized are the seals of all shared memory. If another process could truncate the
// memory, the system would end a process that touches it.
const sized = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW

// CreateShared creates memory like Create that can be passed to another process. Its
// size is sealed.
func CreateShared(bytes uint64) (Memory, error) {
	if bytes > math.MaxInt64 {
		return Memory{}, unix.EFBIG
	}
	m, err := create(bytes, unix.MFD_ALLOW_SEALING)
	if err != nil {
		return Memory{}, err
	}
	if _, err := unix.FcntlInt(uintptr(m.file), unix.F_ADD_SEALS, sized); err != nil {
		_ = unix.Close(m.file)
		return Memory{}, fmt.Errorf("seal the size: %w", err)
	}
	m.shared = true
	return m, nil
}

// Shared reports whether m came from CreateShared or Import.
func (m Memory) Shared() bool { return m.shared }

// ReadOnly reports whether m was imported for reading only.
func (m Memory) ReadOnly() bool { return m.readOnly }

// Export makes a descriptor for another process, which the caller closes. If readOnly
// is true the memory is sealed against new mappings for writing; existing ones stay.
func (m Memory) Export(readOnly bool) (int, error) {
	if !readOnly {
		descriptor, err := unix.FcntlInt(uintptr(m.file), unix.F_DUPFD_CLOEXEC, 3)
		if err != nil {
			return -1, fmt.Errorf("fcntl: %w", err)
		}
		return descriptor, nil
	}
	// A kernel before 5.1 has no such seal. On it any process of the same user can open
	// the file for writing through /proc.
	_, err := unix.FcntlInt(uintptr(m.file), unix.F_ADD_SEALS, unix.F_SEAL_FUTURE_WRITE)
	if err != nil && !errors.Is(err, unix.EINVAL) {
		return -1, fmt.Errorf("seal the contents: %w", err)
	}
	// A new opening has a separate access mode; a duplicate would share it.
	descriptor, err := unix.Open("/proc/self/fd/"+strconv.Itoa(m.file), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("open for reading: %w", err)
	}
	return descriptor, nil
}

// Import makes a Memory from a descriptor that another process exported. The caller
// keeps the descriptor. The error wraps [ErrNotShared] unless the descriptor is of
// memory of exactly the given size, and the size is sealed.
func Import(descriptor int, bytes uint64) (Memory, error) {
	if descriptor < 0 {
		return Memory{}, fmt.Errorf("descriptor %d: %w", descriptor, ErrNotShared)
	}
	seals, err := unix.FcntlInt(uintptr(descriptor), unix.F_GET_SEALS, 0)
	if err != nil {
		return Memory{}, fmt.Errorf("descriptor %d does not support seals (%w): %w", descriptor, err, ErrNotShared)
	}
	if seals&sized != sized {
		return Memory{}, fmt.Errorf("descriptor %d is of memory without a sealed size: %w", descriptor, ErrNotShared)
	}
	var status unix.Stat_t
	if err := unix.Fstat(descriptor, &status); err != nil {
		return Memory{}, fmt.Errorf("fstat: %w", err)
	}
	if uint64(status.Size) != bytes {
		return Memory{}, fmt.Errorf("descriptor %d has %d bytes, not %d: %w", descriptor, status.Size, bytes, ErrNotShared)
	}
	mode, err := unix.FcntlInt(uintptr(descriptor), unix.F_GETFL, 0)
	if err != nil {
		return Memory{}, fmt.Errorf("fcntl: %w", err)
	}
	if mode&unix.O_ACCMODE == unix.O_WRONLY {
		return Memory{}, fmt.Errorf("descriptor %d cannot be read: %w", descriptor, ErrNotShared)
	}
	own, err := unix.FcntlInt(uintptr(descriptor), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return Memory{}, fmt.Errorf("fcntl: %w", err)
	}
	readOnly := mode&unix.O_ACCMODE == unix.O_RDONLY || seals&(unix.F_SEAL_FUTURE_WRITE|unix.F_SEAL_WRITE) != 0
	return Memory{file: own, shared: true, readOnly: readOnly}, nil
}
