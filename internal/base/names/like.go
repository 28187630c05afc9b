package names

// Like reports whether a name matches a pattern of SQL, in which % is any text and _ one character. The time
// is at most the product of both lengths: others choose the patterns.
func Like(pattern, name string) bool {
	wanted, text := []rune(pattern), []rune(name)
	p, t := 0, 0
	after, retry := -1, 0 // the place after the last %, and the place of the text to try next
	for t < len(text) {
		switch {
		case p < len(wanted) && wanted[p] == '%':
			p++
			after, retry = p, t
		case p < len(wanted) && (wanted[p] == '_' || wanted[p] == text[t]):
			p++
			t++
		case after >= 0:
			retry++
			p, t = after, retry
		default:
			return false
		}
	}
	for p < len(wanted) && wanted[p] == '%' {
		p++
	}
	return p == len(wanted)
}
