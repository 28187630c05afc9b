package regex

import "unicode/utf8"

// Each calls visit for every match that regexp's FindAll returns: matches that do not
// overlap, without empty ones that adjoin the match before.
func (s *Searcher) Each(text []byte, visit func(match []uint32)) {
	previous := uint32(None)
	for at := 0; at <= len(text) && s.Search(text, at); {
		isNew := true
		if s.Match[1] == uint32(at) { // the match is empty
			isNew = s.Match[0] != previous
			_, width := utf8.DecodeRune(text[at:])
			at += max(width, 1)
		} else {
			at = int(s.Match[1])
		}
		previous = s.Match[1]
		if isNew {
			visit(s.Match)
		}
	}
}
