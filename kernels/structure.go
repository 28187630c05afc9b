package kernels

import (
	"encoding/binary"
	"fmt"
	"reflect"

	"github.com/gpuframe/gpuframe/device"
)

// Struct makes one argument of [Function.Launch] from several: a struct that the kernel
// takes by value, in the layout of C++. Its fields are arguments of Launch, including
// structs; memory becomes its address, and is held and recorded like a separate argument.
//
// Each field has its natural alignment, which for a complex number or an array is that of
// one part; the size is rounded up to the largest alignment. A C++ type with a declared
// alignment above its parts', such as float2, needs explicit padding.
//
// Struct keeps the fields, which must not change before the launch returns. The result
// may be passed to any number of launches; each holds the memory.
//
// Go allocates for each field in an interface. For kernels that take many words a
// *[Words] is cheaper.
func Struct(fields ...any) any { return &structure{fields} }

type structure struct{ fields []any }

// typeOf names the type of an argument in messages.
func typeOf(value any) string {
	if s, ok := value.(*structure); ok {
		return fmt.Sprintf("a struct of %d fields", len(s.fields))
	}
	return fmt.Sprintf("%T", value)
}

// structWriter lays out a value of more than one word in the slots from first on.
type structWriter struct {
	*arguments
	first, index int
	strict       bool
	// bytes is the size so far, alignment that of the widest part, at most 8.
	bytes, alignment int
}

// whole lays out a struct, including the padding before and after it.
func (w *structWriter) whole(s *structure) error {
	if len(s.fields) == 0 {
		return fmt.Errorf("a struct without fields: %w", device.ErrInvalidValue)
	}
	for i, field := range s.fields {
		if err := w.field(field); err != nil {
			return fmt.Errorf("field %d: %w", i, err)
		}
	}
	w.align(w.alignment)
	return nil
}

func (w *structWriter) field(value any) error {
	word, bytes, err := w.word(w.index, value, w.strict)
	switch {
	case err != nil:
		return err
	case bytes != 0:
		w.align(bytes)
		w.put(word, bytes)
		return nil
	}
	if inner, ok := value.(*structure); ok {
		return w.inner(inner)
	}
	return w.parts(value)
}

// inner lays out a struct within a struct. Its alignment depends on its fields, so it is
// laid out separately first.
func (w *structWriter) inner(s *structure) error {
	own := structWriter{arguments: takeArguments(), index: w.index, strict: w.strict, alignment: 1}
	defer own.giveBack()
	if err := own.whole(s); err != nil {
		return err
	}
	w.unrecorded += own.unrecorded
	for _, r := range own.regions {
		w.note(r)
	}
	w.align(own.alignment)
	for at := 0; at < own.bytes; at += own.alignment {
		w.put(own.slots[at/8]>>(at%8*8), own.alignment)
	}
	return nil
}

// parts lays out a less frequent type: several words, or read by reflection.
func (w *structWriter) parts(value any) error {
	if words, ok := value.(*Words); ok {
		return w.addWords(words)
	}
	var room [64]byte
	raw, err := bytesByKind(room[:0], value)
	if err != nil {
		return err
	}
	w.align(partAlignment(reflect.TypeOf(value)))
	for ; len(raw) >= 8 && w.bytes%8 == 0; raw = raw[8:] {
		w.put(binary.LittleEndian.Uint64(raw), 8)
	}
	for _, b := range raw {
		w.put(uint64(b), 1)
	}
	return nil
}

// align advances to the next multiple of the alignment, a power of two up to 8.
func (w *structWriter) align(alignment int) {
	w.alignment = max(w.alignment, alignment)
	w.bytes = (w.bytes + alignment - 1) &^ (alignment - 1)
}

// put writes the low bytes of a word. They are aligned to their number, so they lie in
// one slot.
func (w *structWriter) put(word uint64, bytes int) {
	slot := w.first + w.bytes/8
	if slot == len(w.slots) {
		w.slots = append(w.slots, 0)
	}
	if bytes < 8 {
		word &= 1<<(8*bytes) - 1
	}
	w.slots[slot] |= word << (w.bytes % 8 * 8)
	w.bytes += bytes
}
