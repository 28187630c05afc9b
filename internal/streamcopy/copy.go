package streamcopy

import "unsafe"

const (
	// line is what one round of the loop writes: a cache line.
	line = 64
	// smallest is the length from which going past the caches pays.
	smallest = 1024
)

// Copy copies source, or as much of it as fits, to destination and returns how
// many bytes it has copied. They do not overlap. The bytes are visible to other
// cores and to devices when it returns.
func Copy(destination, source []byte) int {
	n := min(len(destination), len(source))
	if n < smallest || !available {
		return copy(destination, source)
	}
	// Stores past the caches go to whole lines.
	head := -int(uintptr(unsafe.Pointer(unsafe.SliceData(destination)))) & (line - 1)
	copy(destination[:head], source[:head])
	body := (n - head) &^ (line - 1)
	copyLines(unsafe.Pointer(&destination[head]), unsafe.Pointer(&source[head]), body/line)
	copy(destination[head+body:n], source[head+body:n])
	return n
}
