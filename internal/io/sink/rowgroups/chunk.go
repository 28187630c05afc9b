package rowgroups

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/gpuframe/gpuframe/internal/io/source/pages"
)

const (
	// defaultPageRows is the number of rows of a page.
	defaultPageRows = 1 << 16
	// mostPage is the length of a page's values in PLAIN, and the number of values of lists in a page, unless it has a single row.
	mostPage = 1 << 20
)

// page is a page of a column chunk: rows of it, and bytes that are not compressed.
type page struct {
	rows, entries, values int
	begin, end            int
	bounds                bounds
}

// chunk is an encoded column chunk.
type chunk struct {
	leaf     *leaf
	encoding int
	// raw has the bytes of all pages.
	raw []byte
	// dictionary is the page of the dictionary, if distinct is not 0.
	dictionary page
	distinct   int
	pages      []page
	rows       rows
	bounds     bounds
	bloom      bloom
}

// check reports pages that are longer than a header holds: of a single value.
func (k *chunk) check() error {
	for _, p := range k.pages {
		if n := p.end - p.begin; n > math.MaxInt32 {
			return fmt.Errorf("column %q has a value in a page of %d bytes, a page has at most %d: %w", k.leaf.name, n, math.MaxInt32, ErrValue)
		}
		if p.entries > math.MaxInt32 {
			return fmt.Errorf("column %q has a list in a page of %d values, a page has at most %d: %w", k.leaf.name, p.entries, math.MaxInt32, ErrValue)
		}
	}
	return nil
}

// summarize sets what is known of the chunk by its pages.
func (k *chunk) summarize() {
	for _, p := range k.pages {
		k.bounds = k.bounds.with(k.leaf.order, p.bounds)
	}
}

// hasIndex reports whether each page with values has bounds, as a column index needs.
func (k *chunk) hasIndex() bool {
	for _, p := range k.pages {
		if p.values > 0 && !p.bounds.known() {
			return false
		}
	}
	return true
}

// dividePages calls f for the pages of rows: of pageRows, or fewer of long values.
func dividePages(rows, pageRows int, length func(from, end int) int, f func(from, end int)) {
	for from := 0; from < rows; from += pageRows {
		divideRows(from, min(from+pageRows, rows), length, f)
	}
}

func divideRows(from, end int, length func(from, end int) int, f func(from, end int)) {
	if end-from <= 1 || length(from, end) <= mostPage {
		f(from, end)
		return
	}
	middle := (from + end) / 2
	divideRows(from, middle, length, f)
	divideRows(middle, end, length, f)
}

// isShorter reports whether an encoding that takes longer to decode than PLAIN pays.
func isShorter(length, plain int) bool { return length <= plain-plain/8 }

// encodingOf returns the encoding of values, and those as indices if it is a dictionary.
func (c *leaf) encodingOf(v values, pageRows int, s *scratch) (int, *indexed) {
	switch v := v.(type) {
	case numbers[uint32]:
		return encodingOfNumbers(c, v, pageRows, s)
	case numbers[uint64]:
		return encodingOfNumbers(c, v, pageRows, s)
	case *texts:
		return encodingOfTexts(c, v, s)
	}
	return pages.Plain, nil
}

func encodingOfNumbers[T word](c *leaf, v numbers[T], pageRows int, s *scratch) (int, *indexed) {
	best, length := pages.Plain, v.length(0, len(v.all))
	if c.isInteger() && !c.plain {
		delta := 0
		for from := 0; from < len(v.all); from += pageRows {
			delta += deltaLength(v.all[from:min(from+pageRows, len(v.all))])
		}
		if isShorter(delta, length) {
			best, length = pages.DeltaBinaryPacked, delta
		}
	}
	if c.dictionary {
		if x := v.index(length, s); x != nil {
			return pages.RLEDictionary, x
		}
	}
	return best, nil
}

func encodingOfTexts(c *leaf, v *texts, s *scratch) (int, *indexed) {
	if c.dictionary {
		if x := v.index(v.place(v.count)+v.count, s); x != nil {
			return pages.RLEDictionary, x
		}
	}
	if v.offsets == nil || c.plain {
		return pages.Plain, nil
	}
	return pages.DeltaLengthByteArray, nil
}

// longest returns the length of the pages of values at most.
func longest(v pageValues, x *indexed, r rows, pageRows int) (n int) {
	if x != nil {
		n = x.length(r.valid)
	} else {
		n = v.length(0, r.valid)
	}
	if r.levels != nil {
		n += r.count / 8 * (bits.Len8(r.levels.leaf.mostDefinition) + bits.Len8(r.levels.leaf.mostRepetition))
	}
	return n + n/64 + r.count/8 + (r.count/pageRows+1)*64
}

// encode encodes a column chunk. Its bytes are appended to raw.
func encode(c *leaf, v values, r rows, pageRows int, raw []byte, s *scratch) *chunk {
	encoding, x := c.encodingOf(v, pageRows, s)
	return encodePages(c, encoding, v, x, r, pageRows, raw, s)
}

// encodePages encodes a column chunk of values, or of indices of a dictionary.
func encodePages(c *leaf, encoding int, v pageValues, x *indexed, r rows, pageRows int, raw []byte, s *scratch) *chunk {
	k := &chunk{leaf: c, encoding: encoding, raw: slices.Grow(raw, longest(v, x, r, pageRows)), rows: r}
	if x != nil {
		k.appendDictionary(x)
	}
	entry, at := 0, 0 // the entries before, the values before
	length := func(from, end int) (n int) {
		from, end = r.entry(from), r.entry(end)
		if r.levels != nil {
			n = end - from
		}
		if x != nil {
			return n
		}
		begin := at + r.validIn(entry, from)
		return max(n, v.length(begin, begin+r.validIn(from, end)))
	}
	dividePages(r.number(), pageRows, length, func(from, end int) {
		p := page{rows: end - from, begin: len(k.raw)}
		from, end = r.entry(from), r.entry(end)
		p.entries, p.values = end-from, r.validIn(from, end)
		if r.levels != nil {
			k.raw = r.levels.appendPage(k.raw, from, end)
		} else if c.optional {
			k.raw = appendLevels(k.raw, r.validity, from, p.entries, p.values)
		}
		k.appendValues(v, x, at, at+p.values, s)
		p.end = len(k.raw)
		p.bounds = boundsOf(c, v, x, at, at+p.values)
		entry, at = end, at+p.values
		k.pages = append(k.pages, p)
	})
	k.summarize()
	k.addBloom(v, x, r.valid)
	return k
}

func (k *chunk) appendDictionary(x *indexed) {
	k.distinct = x.count
	k.dictionary.begin = len(k.raw)
	k.raw = x.distinct.appendPlain(k.raw, 0, x.count)
	k.dictionary.end = len(k.raw)
}

func (k *chunk) appendValues(v pageValues, x *indexed, from, end int, s *scratch) {
	switch k.encoding {
	case pages.RLEDictionary:
		k.raw = x.indices.appendPage(k.raw, from, end, indexWidth(x.count))
	case pages.DeltaBinaryPacked:
		k.raw = v.(deltaPages).appendDelta(k.raw, from, end)
	case pages.DeltaLengthByteArray:
		k.raw = v.(*texts).appendDeltaLength(k.raw, from, end, &s.lengths)
	default:
		k.raw = v.(values).appendPlain(k.raw, from, end)
	}
}

// boundsOf returns the bounds of a page: by its indices, if they have the order of the values.
func boundsOf(c *leaf, v pageValues, x *indexed, from, end int) bounds {
	if from == end {
		return bounds{}
	}
	if x == nil || c.order == orderFloat {
		return v.bounds(from, end)
	}
	low, high := x.indices.extremes(from, end)
	least, greatest := x.distinct.bounds(int(low), int(low)+1), x.distinct.bounds(int(high), int(high)+1)
	return bounds{least.low, greatest.high}
}

func (k *chunk) addBloom(v pageValues, x *indexed, count int) {
	if !k.leaf.bloom {
		return
	}
	if x != nil {
		v, count = x.distinct, x.count
	}
	k.bloom = newBloom(count)
	all := v.(values)
	for i := range count {
		k.bloom.add(all.hash(i))
	}
}
