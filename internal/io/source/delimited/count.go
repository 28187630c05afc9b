package delimited

import "bytes"

// Piece is what the host counts in a part of a text, which may begin anywhere. Whether the part begins within quotes is
// known when those before it are counted.
type Piece struct {
	// length is that of the part. first is the place behind its first line end, or 0.
	length, first int
	// odd reports an odd number of quotes, firstOdd the same before the first line end.
	odd, firstOdd bool
	// lines are the line ends. Of those with an even number of quotes of the part before them, and of those with an odd
	// one, ends are the number, empty those of lines without contents behind the first line end, and last the place
	// behind the last one, or 0.
	lines       int64
	ends, empty [2]int64
	last        [2]int
}

// CountPiece counts a part of a text.
func CountPiece(part []byte) Piece {
	p := Piece{length: len(part)}
	odd := 0
	for at := 0; at < len(part); {
		end := bytes.IndexByte(part[at:], '\n')
		if end < 0 {
			odd ^= bytes.Count(part[at:], []byte{'"'}) & 1
			break
		}
		line := part[at : at+end]
		odd ^= bytes.Count(line, []byte{'"'}) & 1
		at += end + 1
		p.lines++
		p.ends[odd]++
		p.last[odd] = at
		if p.first == 0 {
			p.first, p.firstOdd = at, odd == 1
		} else if len(line) == 0 || len(line) == 1 && line[0] == '\r' {
			p.empty[odd]++
		}
	}
	p.odd = odd == 1
	return p
}

// Count is what is known of a text from its beginning, or from that of a row.
type Count struct {
	// Rows are the ends of rows, without lines that have no contents; Empty are those lines. Lines are all line ends,
	// also within quotes.
	Rows, Empty, Lines int64
	// End is the place behind the last row that ends.
	End int
	// length is that of the text, odd reports that it ends within quotes.
	length int
	odd    bool
}

// Add adds the next part of a text. The text has all bytes up to the end of the part.
func (c *Count) Add(text []byte, p Piece) {
	state := 0
	if c.odd {
		state = 1
	}
	ends, empty := p.ends[state], p.empty[state]
	if p.first > 0 && p.firstOdd == c.odd && isEmptyLine(text[:c.length+p.first-1]) {
		empty++
	}
	if last := p.last[state]; last > 0 {
		c.End = c.length + last
	}
	c.Rows += ends - empty
	c.Empty += empty
	c.Lines += p.lines
	c.length += p.length
	c.odd = c.odd != p.odd
}

// isEmptyLine reports whether the last line of a text, without its end, has no contents.
func isEmptyLine(text []byte) bool {
	text = bytes.TrimSuffix(text, []byte{'\r'})
	return len(text) == 0 || text[len(text)-1] == '\n'
}
