package ptx

import "strings"

// Only returns a text without the kernels other than the one named. Functions and
// variables stay.
func Only(text, kernel string) string {
	const entry = ".visible .entry "
	var kept strings.Builder
	for {
		begin := strings.Index(text, entry)
		if begin < 0 {
			break
		}
		end := endOfKernel(text, begin)
		if end < 0 {
			break
		}
		if !strings.HasPrefix(text[begin+len(entry):], kernel+"(") {
			kept.WriteString(text[:begin])
		} else {
			kept.WriteString(text[:end])
		}
		text = text[end:]
	}
	kept.WriteString(text)
	return kept.String()
}

// endOfKernel returns the position after the brace that ends the kernel at begin, on a
// line of its own, or a negative number. It searches for the brace: few lines have one,
// and a file may hold hundreds of kilobytes.
func endOfKernel(text string, begin int) int {
	for at := begin; ; {
		brace := strings.Index(text[at:], "}\n")
		if brace < 0 {
			return -1
		}
		at += brace + len("}\n")
		if text[at-len("\n}\n")] == '\n' {
			return at
		}
	}
}
