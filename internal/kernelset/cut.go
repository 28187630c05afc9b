package kernelset

import "strings"

// only returns PTX without the kernels other than the one named. Functions and
// variables stay.
func only(text, name string) string {
	const entry = ".visible .entry "
	var kept strings.Builder
	for {
		begin := strings.Index(text, entry)
		if begin < 0 {
			break
		}
		length := strings.Index(text[begin:], "\n}\n")
		if length < 0 {
			break
		}
		end := begin + length + len("\n}\n")
		if !strings.HasPrefix(text[begin+len(entry):], name+"(") {
			kept.WriteString(text[:begin])
		} else {
			kept.WriteString(text[:end])
		}
		text = text[end:]
	}
	kept.WriteString(text)
	return kept.String()
}
