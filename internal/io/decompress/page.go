package decompress

import "unsafe"

// Page is a compressed page. Kernels read it in this form: see [Words].
type Page struct {
	// Source and Target are the offsets of its bytes in the input and in the output.
	Source, Target uint64
	// Compressed and Length are its lengths in the input and in the output.
	Compressed, Length uint32
}

// PageWords is the number of words of a page.
const PageWords = 3

// Words returns pages as words that [memory.Slice.Upload] takes. They share memory.
func Words(pages []Page) []uint64 {
	if len(pages) == 0 {
		return nil
	}
	return unsafe.Slice((*uint64)(unsafe.Pointer(&pages[0])), len(pages)*PageWords)
}

// pagesOf is the reverse of Words.
func pagesOf(words []uint64) []Page {
	if len(words) == 0 {
		return nil
	}
	return unsafe.Slice((*Page)(unsafe.Pointer(&words[0])), len(words)/PageWords)
}

// Size is the size of a number of pages.
type Size struct {
	Pages int
	// Compressed and Length are sums over the pages.
	Compressed, Length uint64
}

// Measure returns the size of pages.
func Measure(pages []Page) Size {
	size := Size{Pages: len(pages)}
	for _, p := range pages {
		size.Compressed += uint64(p.Compressed)
		size.Length += uint64(p.Length)
	}
	return size
}
