package vmem

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// CanShare reports whether memory can be shared with other processes. Seals are
// as old as unnamed files, but a sandbox may lack them.
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

// sized are the seals of all shared memory. A process that touched memory which
// another one has cut off would be ended by the system.
const sized = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW

// CreateShared is Create for memory that another process can have. Its size is
// sealed.
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

// Export makes a descriptor for another process, which the caller closes. For one
// that is read only the memory is sealed against mappings for writing: those that
// exist stay.
func (m Memory) Export(readOnly bool) (int, error) {
	if !readOnly {
		descriptor, err := unix.FcntlInt(uintptr(m.file), unix.F_DUPFD_CLOEXEC, 3)
		if err != nil {
			return -1, fmt.Errorf("fcntl: %w", err)
		}
		return descriptor, nil
	}
	// A kernel before 5.1 has no such seal. There who runs as the same user could
	// open the file for writing by way of /proc.
	_, err := unix.FcntlInt(uintptr(m.file), unix.F_ADD_SEALS, unix.F_SEAL_FUTURE_WRITE)
	if err != nil && !errors.Is(err, unix.EINVAL) {
		return -1, fmt.Errorf("seal the contents: %w", err)
	}
	// Another opening has a mode of its own, which a duplicate would not.
	descriptor, err := unix.Open("/proc/self/fd/"+strconv.Itoa(m.file), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("open for reading: %w", err)
	}
	return descriptor, nil
}

// Import makes a Memory of what another process exported. The descriptor stays
// the caller's. The error wraps [ErrNotShared] unless it is of memory of exactly
// so many bytes whose size is sealed.
func Import(descriptor int, bytes uint64) (Memory, error) {
	if descriptor < 0 {
		return Memory{}, fmt.Errorf("descriptor %d: %w", descriptor, ErrNotShared)
	}
	seals, err := unix.FcntlInt(uintptr(descriptor), unix.F_GET_SEALS, 0)
	if err != nil {
		return Memory{}, fmt.Errorf("descriptor %d is of something that has no seals (%w): %w", descriptor, err, ErrNotShared)
	}
	if seals&sized != sized {
		return Memory{}, fmt.Errorf("descriptor %d is of memory whose size is not sealed: %w", descriptor, ErrNotShared)
	}
	var status unix.Stat_t
	if err := unix.Fstat(descriptor, &status); err != nil {
		return Memory{}, fmt.Errorf("fstat: %w", err)
	}
	if uint64(status.Size) != bytes {
		return Memory{}, fmt.Errorf("descriptor %d is of %d bytes, not %d: %w", descriptor, status.Size, bytes, ErrNotShared)
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
