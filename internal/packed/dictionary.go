package packed

import "strings"

// Dictionary has the distinct strings of a column. It is not changed.
type Dictionary struct {
	// offsets begin with 0 and have one more than there are strings.
	offsets []uint32
	bytes   []byte
}

// Len is the number of strings.
func (d *Dictionary) Len() int {
	if d == nil {
		return 0
	}
	return len(d.offsets) - 1
}

// Bytes is the length of the dictionary.
func (d *Dictionary) Bytes() int64 {
	if d == nil {
		return 0
	}
	return int64(4*len(d.offsets) + len(d.bytes))
}

// text returns a string of the dictionary.
func (d *Dictionary) text(code uint64) []byte { return d.bytes[d.offsets[code]:d.offsets[code+1]] }

const (
	// mostEntries and mostDictionaryBytes are limits of a dictionary. Beyond them blocks have their strings.
	mostEntries         = 1 << 16
	mostDictionaryBytes = 1 << 20
	// repeated is how often a string occurs in a block on average, at least, if the block has codes.
	repeated = 4
)

// dictionaryBuilder collects the strings of a column.
type dictionaryBuilder struct {
	codes   map[string]uint32
	offsets []uint32
	bytes   []byte
	// full is set if a string had no room: later blocks have no codes.
	full bool
}

func newDictionaryBuilder() *dictionaryBuilder {
	return &dictionaryBuilder{codes: map[string]uint32{}, offsets: []uint32{0}}
}

// blockCodes are the strings of the rows of a block as numbers of a list of them.
type blockCodes struct {
	codes []uint32
	list  []string
}

// add gives the strings of a block codes of the whole column. It returns false if there is no room for them.
func (d *dictionaryBuilder) add(b *blockCodes) bool {
	if d.full {
		return false
	}
	numbers := make([]uint32, len(b.list))
	for i, text := range b.list {
		code, known := d.codes[text]
		if !known {
			if len(d.codes) == mostEntries || len(d.bytes)+len(text) > mostDictionaryBytes {
				d.full = true
				return false
			}
			code = uint32(len(d.codes))
			d.bytes = append(d.bytes, text...)
			d.offsets = append(d.offsets, uint32(len(d.bytes)))
			d.codes[strings.Clone(text)] = code
		}
		numbers[i] = code
	}
	for i, code := range b.codes {
		b.codes[i] = numbers[code]
	}
	return true
}

// dictionary returns the strings so far.
func (d *dictionaryBuilder) dictionary() *Dictionary {
	n, bytes := len(d.offsets), len(d.bytes)
	return &Dictionary{offsets: d.offsets[:n:n], bytes: d.bytes[:bytes:bytes]}
}

// recent has strings that were seen with their numbers: most strings that repeat are found without a look-up in a map.
type recent [256]struct {
	text   string
	number uint32
	used   bool
}

// place returns the place of a string, by its length and its ends.
func (r *recent) place(text string) int {
	if len(text) == 0 {
		return 0
	}
	return (len(text)*31 + int(text[0])*17 + int(text[len(text)-1])) % len(r)
}

// codesOf numbers the strings of a block. It returns nil if they do not repeat.
func codesOf(r *rowReader, first, rows int) *blockCodes {
	b := &blockCodes{codes: make([]uint32, 0, rows)}
	numbers := map[string]uint32{}
	var seen recent
	const sample = 4096
	r.eachText(first, rows, func(text string, valid bool) bool {
		code := uint32(0)
		if valid {
			last := &seen[seen.place(text)]
			if !last.used || last.text != text {
				number, known := numbers[text]
				if !known {
					number = uint32(len(b.list))
					numbers[text] = number
					b.list = append(b.list, text)
				}
				last.text, last.number, last.used = text, number, true
			}
			code = last.number
		} else if n := len(b.codes); n > 0 {
			code = b.codes[n-1]
		}
		b.codes = append(b.codes, code)
		n := len(b.codes)
		return n%sample != 0 || len(b.list)*repeated <= n
	})
	if len(b.codes) < rows || len(b.list)*repeated > rows {
		return nil
	}
	if len(b.list) == 0 { // nulls only
		b.list = []string{""}
	}
	return b
}
