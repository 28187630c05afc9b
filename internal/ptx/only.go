package ptx

import (
	"iter"
	"strings"
)

// Parts cuts a text into its kernels and the text between them. It yields the parts in
// order, each with the name of its kernel, or with an empty name.
func Parts(text string) iter.Seq2[string, string] {
	const entry = ".visible .entry "
	return func(yield func(string, string) bool) {
		for {
			begin := strings.Index(text, entry)
			if begin < 0 {
				break
			}
			end := endOfKernel(text, begin)
			if end < 0 {
				break
			}
			name, _, _ := strings.Cut(text[begin+len(entry):end], "(")
			if begin > 0 && !yield("", text[:begin]) || !yield(name, text[begin:end]) {
				return
			}
			text = text[end:]
		}
		if text != "" {
			yield("", text)
		}
	}
}

// Only returns a text without the kernels other than the one named. Functions and
// variables stay.
func Only(text, kernel string) string {
	var kept strings.Builder
	for name, part := range Parts(text) {
		if name == "" || name == kernel {
			kept.WriteString(part)
		}
	}
	return kept.String()
}

// endOfKernel returns the position after the line that ends the kernel at begin, a
// single brace, or a negative number. It searches for the brace: few lines have one,
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
