package rowkey

// Bounds are the least and the greatest value of integers, as unsigned numbers in the
// order of the values. If Least is above Greatest there are no values.
type Bounds struct{ Least, Greatest uint64 }

// Bounds returns the bounds of n rows of a source of integers.
func (h *Host) Bounds(source, first, n int) Bounds {
	l := &h.leaves[source]
	var block [blockRows]uint64
	b := Bounds{Least: ones(WordBits)}
	for at := first; at < first+n; at += blockRows {
		values := block[:min(blockRows, first+n-at)]
		l.loadNumbers(Rows{First: at}, values)
		for i, value := range values {
			if l.Nullable && l.isNull(at+i) {
				continue
			}
			value = l.image(value)
			b.Least, b.Greatest = min(b.Least, value), max(b.Greatest, value)
		}
	}
	return b
}

// DecimalBounds returns the bounds of n rows of a source of decimals by their low words. wide
// is set if a value takes more than 64 bits.
func (h *Host) DecimalBounds(source, first, n int) (b Bounds, wide bool) {
	l := &h.leaves[source]
	limbs, stride := elements[uint64](l.values, l.offset*l.Layout.Width/8), l.Layout.Width/8
	b.Least = ones(WordBits)
	for row := first; row < first+n; row++ {
		if l.Nullable && l.isNull(row) {
			continue
		}
		value := limbs[row*stride:][:stride]
		for _, limb := range value[1:] {
			wide = wide || limb != uint64(int64(value[0])>>63)
		}
		image := value[0] ^ 1<<63
		b.Least, b.Greatest = min(b.Least, image), max(b.Greatest, image)
	}
	return b, wide
}

// Add extends bounds to contain others.
func (b *Bounds) Add(other Bounds) {
	b.Least, b.Greatest = min(b.Least, other.Least), max(b.Greatest, other.Greatest)
}

// Apply sets the bounds of a source, for the next [NewPlan].
func (b Bounds) Apply(s *Source) {
	if b.Least > b.Greatest { // all rows are null
		b.Least, b.Greatest = 0, 0
	}
	s.Bounded, s.Least, s.Greatest = true, b.Least, b.Greatest
}
