package decompress

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
)

// zstdWriter writes random frames and their contents.
type zstdWriter struct {
	frames, plain []byte
	// fewestHuffman is the number of literals that may have a Huffman code, at least. shorter excludes
	// codes that make them longer.
	fewestHuffman int
	shorter       bool
	start         int // of the frame's contents
	recent        [3]int
	coders        [3]*zstdCoder // of literal lengths, offsets, match lengths
	huffman       *huffmanCode
}

// zstdCoder is the code of a kind of numbers: one symbol, or states.
type zstdCoder struct {
	symbol  int
	log     int
	symbols []int // of each state
	base    []int
	bits    []int
}

var zstdPredefined = [3]struct {
	log    int
	counts []int
}{
	{6, []int{4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1}},
	{5, []int{1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1}},
	{6, []int{1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1}},
}

// newZstdCoder follows RFC 8878, 4.1.1.
func newZstdCoder(log int, counts []int) *zstdCoder {
	size := 1 << log
	c := &zstdCoder{log: log, symbols: make([]int, size), base: make([]int, size), bits: make([]int, size)}
	high := size
	next := make([]int, len(counts))
	for symbol, count := range counts {
		next[symbol] = max(count, -count)
		if count < 0 {
			high--
			c.symbols[high] = symbol
		}
	}
	place := 0
	for symbol, count := range counts {
		for range max(count, 0) {
			c.symbols[place] = symbol
			for place = (place + size/2 + size/8 + 3) % size; place >= high; {
				place = (place + size/2 + size/8 + 3) % size
			}
		}
	}
	for state, symbol := range c.symbols {
		c.bits[state] = log + 1 - bits.Len(uint(next[symbol]))
		c.base[state] = next[symbol]<<c.bits[state] - size
		next[symbol]++
	}
	return c
}

// draw returns a symbol of the code.
func (c *zstdCoder) draw(r *rand.Rand) int {
	if c.log == 0 {
		return c.symbol
	}
	return c.symbols[r.IntN(len(c.symbols))]
}

// before returns a state of a symbol that is followed by a state, or any.
func (c *zstdCoder) before(symbol, next int, last bool) int {
	if c.log == 0 {
		return 0
	}
	for state, s := range c.symbols {
		if s == symbol && (last || c.base[state] <= next && next < c.base[state]+1<<c.bits[state]) {
			return state
		}
	}
	panic("the code has no such state")
}

func (c *zstdCoder) step(state, next int) field {
	if c.log == 0 {
		return field{}
	}
	return field{next - c.base[state], c.bits[state]}
}

// field is a number of bits.
type field struct{ value, bits int }

// backwards returns the stream of which a decoder reads the fields in order.
func backwards(fields []field) (stream []byte) {
	var word uint64
	count := 0
	add := func(f field) {
		word |= uint64(f.value) << count
		for count += f.bits; count >= 8; count -= 8 {
			stream = append(stream, byte(word))
			word >>= 8
		}
	}
	for i := len(fields) - 1; i >= 0; i-- {
		add(fields[i])
	}
	add(field{1, 1})
	if count > 0 {
		stream = append(stream, byte(word))
	}
	return stream
}

// newZstdWriter returns the writer of a frame with contents, of at most some bytes.
func newZstdWriter(r *rand.Rand, fewestHuffman, most int) *zstdWriter {
	for {
		w := &zstdWriter{fewestHuffman: fewestHuffman}
		if w.frame(r); len(w.plain) > 0 && len(w.plain) <= most {
			return w
		}
	}
}

// frame writes a frame.
func (w *zstdWriter) frame(r *rand.Rand) {
	if r.IntN(4) == 0 {
		skipped := random(r, r.IntN(10))
		w.frames = binary.LittleEndian.AppendUint32(w.frames, 0x184d2a50+r.Uint32N(16))
		w.frames = binary.LittleEndian.AppendUint32(w.frames, uint32(len(skipped)))
		w.frames = append(w.frames, skipped...)
	}
	w.start, w.recent, w.coders, w.huffman = len(w.plain), [3]int{1, 4, 8}, [3]*zstdCoder{}, nil
	before := w.frames
	w.frames = nil
	for blocks := r.IntN(6); blocks > 0; blocks-- {
		w.randomBlock(r, false)
	}
	w.randomBlock(r, true)
	blocks := w.frames
	w.frames = append(before, w.header(r, len(w.plain)-w.start)...)
	w.frames = append(w.frames, blocks...)
	if w.frames[len(before)+4]&4 != 0 {
		w.frames = append(w.frames, random(r, 4)...) // checksums are not compared
	}
}

// header returns the header of a frame with a length.
func (w *zstdWriter) header(r *rand.Rand, length int) []byte {
	descriptor, forms := byte(r.IntN(2)*4), []int{}
	for form, most := range []int{255, 256 + 65535, 1 << 30, 1 << 30} {
		if length <= most && (form != 1 || length >= 256) {
			forms = append(forms, form)
		}
	}
	form := forms[r.IntN(len(forms))]
	single := form == 0 && length <= 255 || r.IntN(2) == 0
	if form == 0 && r.IntN(2) == 0 {
		single = false // no length
	}
	header := []byte{0x28, 0xb5, 0x2f, 0xfd, descriptor | byte(form)<<6}
	if single {
		header[4] |= 1 << 5
	} else {
		header = append(header, 0x88) // a window of some hundred MiB
	}
	switch form {
	case 0:
		if single {
			header = append(header, byte(length))
		}
	case 1:
		header = binary.LittleEndian.AppendUint16(header, uint16(length-256))
	case 2:
		header = binary.LittleEndian.AppendUint32(header, uint32(length))
	case 3:
		header = binary.LittleEndian.AppendUint64(header, uint64(length))
	}
	return header
}

// block writes the header of a block.
func (w *zstdWriter) block(kind, size int, last bool) {
	header := size<<3 | kind<<1
	if last {
		header |= 1
	}
	w.frames = append(w.frames, byte(header), byte(header>>8), byte(header>>16))
}

func (w *zstdWriter) randomBlock(r *rand.Rand, last bool) {
	switch r.IntN(5) {
	case 0:
		data := random(r, r.IntN(50))
		w.block(0, len(data), last)
		w.frames, w.plain = append(w.frames, data...), append(w.plain, data...)
	case 1:
		value, n := byte(r.Uint32()), r.IntN(300)
		w.block(1, n, last)
		w.frames = append(w.frames, value)
		for range n {
			w.plain = append(w.plain, value)
		}
	default:
		var modes [3]int
		for kind := range modes {
			modes[kind] = r.IntN(2)
			if w.coders[kind] != nil && r.IntN(2) == 0 {
				modes[kind] = 3
			}
		}
		content := w.compressed(r, r.IntN(1+r.IntN(100)), modes)
		w.block(2, len(content), last)
		w.frames = append(w.frames, content...)
	}
}

// zstdSequence is codes and their extra bits, in the order of coders.
type zstdSequence struct {
	codes [3]int
	extra [3]field
}

var (
	literalBases = append(plainBases(16, 0), 16, 18, 20, 22, 24, 28, 32, 40, 48, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536)
	matchBases   = append(plainBases(32, 3), 35, 37, 39, 41, 43, 47, 51, 59, 67, 83, 99, 131, 259, 515, 1027, 2051, 4099, 8195, 16387, 32771, 65539)
)

func plainBases(n, first int) (bases []int) {
	for i := range n {
		bases = append(bases, first+i)
	}
	return bases
}

// value returns a number of a code and its extra bits.
func value(r *rand.Rand, bases []int, code int) (int, field) {
	width := 16
	if code+1 < len(bases) {
		width = bits.Len(uint(bases[code+1]-bases[code])) - 1
	}
	f := field{r.IntN(1 << width), width}
	return bases[code] + f.value, f
}

// compressed writes a block of at most n sequences, and returns its content.
func (w *zstdWriter) compressed(r *rand.Rand, n int, modes [3]int) []byte {
	before := w.coders
	for kind, mode := range modes {
		if n > 0 && mode == 0 {
			w.coders[kind] = newZstdCoder(zstdPredefined[kind].log, zstdPredefined[kind].counts)
		}
		if n > 0 && mode == 1 && w.coders[kind] == nil || mode == 1 && n < 0x7f00 && n > 0 {
			w.coders[kind] = &zstdCoder{symbol: r.IntN([]int{20, 8, 36}[kind])}
		}
	}
	var sequences []zstdSequence
	var literals []byte
	alphabet := 1 + r.IntN(64)
	start := len(w.plain)
	for range n {
		s, ok := w.sequence(r, &literals, alphabet, start)
		if !ok {
			break
		}
		sequences = append(sequences, s)
	}
	if len(sequences) == 0 {
		w.coders = before // without sequences a block has no tables
	}
	rest := w.literals(r, r.IntN(40), alphabet)
	w.plain = append(w.plain, rest...)
	return append(w.literalSection(r, append(literals, rest...)), w.sequenceSection(sequences, modes)...)
}

func (w *zstdWriter) literals(r *rand.Rand, n, alphabet int) (literals []byte) {
	for range n {
		literals = append(literals, byte(r.IntN(alphabet)))
	}
	return literals
}

// sequence draws a sequence that is valid after the contents, and adds what it means.
func (w *zstdWriter) sequence(r *rand.Rand, literals *[]byte, alphabet, start int) (s zstdSequence, ok bool) {
	const mostBlock = 100_000
	for range 30 {
		for kind := range s.codes {
			s.codes[kind] = w.coders[kind].draw(r)
		}
		var length, match, distance int
		length, s.extra[0] = value(r, literalBases, s.codes[0])
		match, s.extra[2] = value(r, matchBases, s.codes[2])
		s.extra[1] = field{r.IntN(1 << s.codes[1]), s.codes[1]}
		recent := w.recent
		distance, recent = repeatedDistance(1<<s.codes[1]+s.extra[1].value, length, recent)
		written := len(w.plain) - start + length + match
		if distance < 1 || distance > len(w.plain)-w.start+length || written > mostBlock || (length+match > 2000 && r.IntN(50) != 0) {
			continue
		}
		w.recent = recent
		run := w.literals(r, length, alphabet)
		*literals = append(*literals, run...)
		w.plain = append(w.plain, run...)
		for range match {
			w.plain = append(w.plain, w.plain[len(w.plain)-distance])
		}
		return s, true
	}
	return s, false
}

// repeatedDistance follows RFC 8878, 3.1.1.5.
func repeatedDistance(value, literals int, recent [3]int) (int, [3]int) {
	if value > 3 {
		return value - 3, [3]int{value - 3, recent[0], recent[1]}
	}
	if literals == 0 {
		value++
	}
	switch value {
	case 1:
		return recent[0], recent
	case 2:
		return recent[1], [3]int{recent[1], recent[0], recent[2]}
	case 3:
		return recent[2], [3]int{recent[2], recent[0], recent[1]}
	}
	return recent[0] - 1, [3]int{recent[0] - 1, recent[0], recent[1]}
}

func (w *zstdWriter) sequenceSection(sequences []zstdSequence, modes [3]int) (section []byte) {
	switch n := len(sequences); {
	case n < 128:
		section = []byte{byte(n)}
	case n < 0x7f00:
		section = []byte{byte(n>>8 + 128), byte(n)}
	default:
		section = binary.LittleEndian.AppendUint16([]byte{255}, uint16(n-0x7f00))
	}
	if len(sequences) == 0 {
		return section
	}
	section = append(section, byte(modes[0]<<6|modes[1]<<4|modes[2]<<2))
	for kind, mode := range modes {
		if mode == 1 {
			section = append(section, byte(w.coders[kind].symbol))
		}
	}
	return append(section, backwards(w.sequenceFields(sequences))...)
}

// sequenceFields returns what a decoder reads, in order.
func (w *zstdWriter) sequenceFields(sequences []zstdSequence) (fields []field) {
	states := make([][3]int, len(sequences))
	for i := len(sequences) - 1; i >= 0; i-- {
		for kind, c := range w.coders {
			last := i+1 == len(sequences)
			next := 0
			if !last {
				next = states[i+1][kind]
			}
			states[i][kind] = c.before(sequences[i].codes[kind], next, last)
		}
	}
	for kind, c := range w.coders {
		fields = append(fields, field{states[0][kind], c.log})
	}
	for i, s := range sequences {
		fields = append(fields, s.extra[1], s.extra[2], s.extra[0])
		if i+1 < len(sequences) {
			for _, kind := range []int{0, 2, 1} {
				fields = append(fields, w.coders[kind].step(states[i][kind], states[i+1][kind]))
			}
		}
	}
	return fields
}

// literalSection writes literals of values below 64 in a random form.
func (w *zstdWriter) literalSection(r *rand.Rand, literals []byte) []byte {
	n := len(literals)
	same := n > 0
	for _, b := range literals {
		same = same && b == literals[0]
	}
	switch form := r.IntN(4); {
	case form == 0 && same:
		return append(plainLiterals(1, n), literals[0])
	case form > 0 && n >= w.fewestHuffman:
		before := w.huffman
		section := w.huffmanLiterals(r, literals)
		if len(section) < n || !w.shorter {
			return section
		}
		w.huffman = before
	}
	return append(plainLiterals(0, n), literals...)
}

func plainLiterals(kind, n int) []byte {
	switch {
	case n < 32:
		return []byte{byte(kind | n<<3)}
	case n < 4096:
		return binary.LittleEndian.AppendUint16(nil, uint16(kind|1<<2|n<<4))
	}
	return binary.LittleEndian.AppendUint32(nil, uint32(kind|3<<2|n<<4))[:3]
}

// huffmanCode is a prefix code of 64 symbols.
type huffmanCode struct {
	lengths, codes [64]int
	most           int
}

// newHuffmanCode divides the code space at random.
func newHuffmanCode(r *rand.Rand) *huffmanCode {
	lengths := []int{0}
	for len(lengths) < 64 {
		i := r.IntN(len(lengths))
		if lengths[i] < 11 {
			lengths[i]++
			lengths = append(lengths, lengths[i])
		}
	}
	h := &huffmanCode{lengths: [64]int(lengths)}
	for _, length := range lengths {
		h.most = max(h.most, length)
	}
	code := 0 // of as many bits as the longest code
	for length := h.most; length > 0; length-- {
		for symbol, l := range h.lengths {
			if l == length {
				h.codes[symbol] = code >> (h.most - length)
				code += 1 << (h.most - length)
			}
		}
	}
	return h
}

// description returns the weights of all symbols but the last.
func (h *huffmanCode) description() []byte {
	data := []byte{127 + 63}
	for i := 0; i < 63; i += 2 {
		pair := (h.most + 1 - h.lengths[i]) << 4
		if i+1 < 63 {
			pair |= h.most + 1 - h.lengths[i+1]
		}
		data = append(data, byte(pair))
	}
	return data
}

func (h *huffmanCode) stream(literals []byte) []byte {
	var fields []field
	for _, b := range literals {
		fields = append(fields, field{h.codes[b], h.lengths[b]})
	}
	return backwards(fields)
}

func (w *zstdWriter) huffmanLiterals(r *rand.Rand, literals []byte) []byte {
	kind := 3
	var content []byte
	if w.huffman == nil || r.IntN(2) == 0 {
		kind = 2
		w.huffman = newHuffmanCode(r)
		content = w.huffman.description()
	}
	n, streams := len(literals), 1
	if n > 600 || n >= w.fewestHuffman && r.IntN(2) == 0 { // a header of one stream has ten bits
		streams = 4
		quarter := (n + 3) / 4
		var bytes []byte
		for i := range 4 {
			stream := w.huffman.stream(literals[i*quarter : min(n, (i+1)*quarter)])
			if i < 3 {
				content = binary.LittleEndian.AppendUint16(content, uint16(len(stream)))
			}
			bytes = append(bytes, stream...)
		}
		content = append(content, bytes...)
	} else {
		content = append(content, w.huffman.stream(literals)...)
	}
	return append(huffmanHeader(r, kind, streams, n, len(content)), content...)
}

// huffmanHeader returns a header of a width that suffices.
func huffmanHeader(r *rand.Rand, kind, streams, length, compressed int) []byte {
	format := 0
	if streams == 4 {
		format = 1 + r.IntN(3)
	}
	for most := max(length, compressed); format < 3 && most >= 1<<[]int{10, 10, 14}[format]; {
		format++
	}
	width := []int{10, 10, 14, 18}[format]
	word := uint64(kind|format<<2) | uint64(length)<<4 | uint64(compressed)<<(4+width)
	return binary.LittleEndian.AppendUint64(nil, word)[:[]int{3, 3, 4, 5}[format]]
}
