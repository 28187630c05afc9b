// Package pickle writes data in the serialization format of Python's module pickle: what
// dictionaries, lists, strings and numbers need of protocol 2, which every Python 3 and
// the viewer of PyTorch's memory snapshots read.
package pickle

import (
	"bufio"
	"encoding/binary"
	"io"
	"math"
	"strings"
)

// The opcodes of the format.
const (
	proto      = 0x80
	stop       = '.'
	mark       = '('
	emptyDict  = '}'
	setItems   = 'u'
	emptyList  = ']'
	appendAll  = 'e'
	unicode    = 'X'
	int32Code  = 'J'
	long1      = 0x8a
	floatCode  = 'G'
	trueCode   = 0x88
	falseCode  = 0x89
	none       = 'N'
	tuple2     = 0x86
	remember   = 'q'
	remember32 = 'r'
	recall     = 'h'
	recall32   = 'j'
)

// mostItems is the number of items that are appended to a list at a time. Readers keep
// them on a stack until then.
const mostItems = 1000

// Encoder writes one value. Errors of the writer are returned by Close.
type Encoder struct {
	w *bufio.Writer
	// known are the numbers of strings and shared values that have been written.
	known map[any]uint32
}

// NewEncoder returns an encoder. The caller writes one value and closes it.
func NewEncoder(w io.Writer) *Encoder {
	e := &Encoder{w: bufio.NewWriter(w), known: make(map[any]uint32)}
	e.bytes(proto, 2)
	return e
}

// Close ends the value.
func (e *Encoder) Close() error {
	e.bytes(stop)
	return e.w.Flush()
}

// bytes writes bytes. The writer keeps its first error for Close.
func (e *Encoder) bytes(b ...byte) { _, _ = e.w.Write(b) }

// Dict writes a dictionary. The function writes keys and values alternately.
func (e *Encoder) Dict(items func()) {
	e.bytes(emptyDict, mark)
	items()
	e.bytes(setItems)
}

// List writes a list of n items.
func (e *Encoder) List(n int, item func(i int)) {
	e.bytes(emptyList)
	for from := 0; from < n; from += mostItems {
		e.bytes(mark)
		for i := from; i < min(n, from+mostItems); i++ {
			item(i)
		}
		e.bytes(appendAll)
	}
}

// Pair writes a tuple of two values.
func (e *Encoder) Pair(first, second func()) {
	first()
	second()
	e.bytes(tuple2)
}

// String writes a string. Bytes that are no UTF-8 become U+FFFD.
func (e *Encoder) String(s string) {
	e.Shared(s, func() {
		s := strings.ToValidUTF8(s, "\uFFFD")
		s = s[:min(len(s), math.MaxInt32)]
		e.bytes(unicode)
		e.bytes(binary.LittleEndian.AppendUint32(nil, uint32(len(s)))...)
		_, _ = e.w.WriteString(s)
	})
}

// Shared writes a value once. Later calls with the same key write a reference to it. The
// key is a string only for values of String.
func (e *Encoder) Shared(key any, value func()) {
	if number, ok := e.known[key]; ok {
		e.numbered(recall, recall32, number)
		return
	}
	value()
	number := uint32(len(e.known))
	e.known[key] = number
	e.numbered(remember, remember32, number)
}

// numbered writes an opcode with a number, which has two lengths.
func (e *Encoder) numbered(short, long byte, number uint32) {
	if number <= math.MaxUint8 {
		e.bytes(short, byte(number))
		return
	}
	e.bytes(long)
	e.bytes(binary.LittleEndian.AppendUint32(nil, number)...)
}

// Uint writes an integer.
func (e *Encoder) Uint(u uint64) {
	if u <= math.MaxInt32 {
		e.bytes(int32Code)
		e.bytes(binary.LittleEndian.AppendUint32(nil, uint32(u))...)
		return
	}
	// Two's complement in as few bytes as possible, the least significant first.
	text := binary.LittleEndian.AppendUint64(nil, u)
	text = append(text, 0)
	n := len(text)
	for n > 1 && text[n-1] == 0 && text[n-2] < 0x80 {
		n--
	}
	e.bytes(long1, byte(n))
	e.bytes(text[:n]...)
}

// Float writes a number.
func (e *Encoder) Float(f float64) {
	e.bytes(floatCode)
	e.bytes(binary.BigEndian.AppendUint64(nil, math.Float64bits(f))...)
}

// Bool writes a truth value.
func (e *Encoder) Bool(b bool) {
	if b {
		e.bytes(trueCode)
	} else {
		e.bytes(falseCode)
	}
}

// None writes Python's None.
func (e *Encoder) None() { e.bytes(none) }
