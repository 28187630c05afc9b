package delimited

import (
	"bytes"
	"encoding/binary"
)

// Piece has the counts of a part of a text, which may begin anywhere. The parts before decide whether it begins within
// quotes.
type Piece struct {
	// length is that of the part. first is the place behind the first line end, or 0.
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
	p := Piece{length: len(part), lines: int64(bytes.Count(part, lineEnd))}
	p.first = bytes.IndexByte(part, '\n') + 1
	quotes := bytes.Count(part, quote)
	p.odd = quotes%2 == 1
	p.firstOdd = bytes.Count(part[:p.first], quote)%2 == 1
	if int64(quotes) > p.lines || hasEmptyLines(part) {
		p.countLines(part)
	} else {
		p.countQuotes(part, quotes)
	}
	return p
}

var lineEnd, quote = []byte{'\n'}, []byte{'"'}

// countLines counts line by line.
func (p *Piece) countLines(part []byte) {
	odd := 0
	for at := 0; ; {
		end := bytes.IndexByte(part[at:], '\n')
		if end < 0 {
			return
		}
		line := part[at : at+end]
		odd ^= bytes.Count(line, quote) & 1
		if at > 0 && (len(line) == 0 || len(line) == 1 && line[0] == '\r') {
			p.empty[odd]++
		}
		at += end + 1
		p.ends[odd]++
		p.last[odd] = at
	}
}

// countQuotes counts the lines from one quote to the next. No line is empty.
func (p *Piece) countQuotes(part []byte, quotes int) {
	at := 0
	for i := range quotes + 1 {
		end := len(part)
		if i < quotes {
			end = at + bytes.IndexByte(part[at:], '"')
		}
		if lines := bytes.Count(part[at:end], lineEnd); lines > 0 {
			p.ends[i%2] += int64(lines)
			p.last[i%2] = at + bytes.LastIndexByte(part[at:end], '\n') + 1
		}
		at = end + 1
	}
}

// hasEmptyLines reports whether a line end follows another one, or a carriage return behind another one.
func hasEmptyLines(part []byte) bool {
	if bytes.IndexByte(part, '\r') >= 0 && bytes.Contains(part, []byte("\n\r\n")) {
		return true
	}
	const (
		ones    = 0x0101010101010101
		highest = ones << 7
		ends    = ones * '\n'
	)
	left := part
	for ; len(left) > 32; left = left[32:] {
		var together uint64
		words := left[:33:33]
		for k := 0; k < 32; k += 8 {
			pair := binary.LittleEndian.Uint64(words[k:]) ^ ends | binary.LittleEndian.Uint64(words[k+1:]) ^ ends
			together |= (pair - ones) &^ pair // a byte of a pair is 0 if both are line ends
		}
		if together&highest != 0 {
			return true
		}
	}
	return bytes.Contains(left, []byte("\n\n"))
}

// Count has the counts of a text, which begins with a row.
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
