package streamcopy

import "unsafe"

const (
	// line is the size of a cache line, which one iteration of the loop writes.
	line = 64
	// smallest is the length from which copies past the caches are faster.
	smallest = 1024
)

// Copy copies bytes from source to destination, as the built-in copy does, and returns
// their number. The slices must not overlap. When Copy returns, the bytes are visible
// to other cores and to devices.
func Copy(destination, source []byte) int {
	n := min(len(destination), len(source))
	if n < smallest || !available {
		return copy(destination, source)
	}
	// Non-temporal stores write whole lines.
	head := -int(uintptr(unsafe.Pointer(unsafe.SliceData(destination)))) & (line - 1)
	copy(destination[:head], source[:head])
	body := (n - head) &^ (line - 1)
	copyLines(unsafe.Pointer(&destination[head]), unsafe.Pointer(&source[head]), body/line)
	copy(destination[head+body:n], source[head+body:n])
	return n
}
