package host

import (
	"runtime"
	"sync"
	"unsafe"
)

const (
	// sharedCopy is the size from which several goroutines copy faster than one: about
	// the size of a processor's private cache.
	sharedCopy = 8 << 20
	// maximumSharers is enough to use the memory bandwidth of common machines, and
	// leaves processors to others on large ones.
	maximumSharers = 8
	// fillBlock is the source of all copies of a fill; it stays in the first-level
	// cache.
	fillBlock = 16 << 10
)

// move copies bytes. The ranges may overlap; the result is as if the source had been
// read completely first.
func move(destination, source unsafe.Pointer, bytes uint64) {
	if bytes == 0 {
		return
	}
	to := unsafe.Slice((*byte)(destination), bytes)
	from := unsafe.Slice((*byte)(source), bytes)
	sharers := min(runtime.GOMAXPROCS(0), maximumSharers)
	if bytes < sharedCopy || sharers == 1 || overlap(destination, source, bytes) {
		copy(to, from)
		return
	}
	part := len(to)/sharers + 1
	var group sync.WaitGroup
	for start := 0; start < len(to); start += part {
		end := min(start+part, len(to))
		group.Go(func() { copy(to[start:end], from[start:end]) })
	}
	group.Wait()
}

func overlap(a, b unsafe.Pointer, bytes uint64) bool {
	low, high := min(uintptr(a), uintptr(b)), max(uintptr(a), uintptr(b))
	return uint64(high-low) < bytes
}

// fill writes value, of 1, 2 or 4 bytes in the machine's order, to a whole range. The
// width divides the length of the range.
func fill(destination unsafe.Pointer, value uint32, width int, bytes uint64) {
	if bytes == 0 {
		return
	}
	target := unsafe.Slice((*byte)(destination), bytes)
	switch width {
	case 1:
		target[0] = byte(value)
	case 2:
		*(*uint16)(destination) = uint16(value)
	case 4:
		*(*uint32)(destination) = value
	}
	// The written part doubles until it is a block.
	for done := width; done < len(target); {
		done += copy(target[done:], target[:min(done, fillBlock)])
	}
}
