package delimited

import (
	"context"
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/address"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/text/textparse"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// Batch is texts on the device, ready to be decoded.
type Batch struct {
	manager *memory.Manager
	options Options
	layout  Layout
	// length is that of all texts, with the line ends that some lack.
	length, rows uint64
	// memory has all that is copied to the device.
	memory  *memory.Block
	text    textLayout
	nulls   nullsLayout
	members membersLayout
	powers  powersLayout
	// outcome has the outcome and the results of columns, targets the descriptions of columns behind it.
	outcome, targets memory.Slice[uint8]
}

// Copy copies texts to a device that is no host. The copy has Options.CopyStream, so that the device decodes another
// batch meanwhile.
//
// # Waiting
//
// Copy returns when the bytes of the texts may be reused.
//
// # Ownership
//
// The caller releases the batch.
//
// # Errors
//
// They are those of [Decode].
func Copy(ctx context.Context, m *memory.Manager, layout Layout, texts []Text, options Options) (*Batch, error) {
	if err := layout.check(); err != nil {
		return nil, fmt.Errorf("delimited: %w", err)
	}
	if m.Device().Kind() == device.Host {
		return nil, fmt.Errorf("delimited: decode on %s: %w", m.Device(), device.ErrNotSupported)
	}
	b := &Batch{manager: m, options: options, layout: layout}
	err := b.measure(texts)
	if err == nil && b.rows > 0 {
		err = b.copy(ctx, texts)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("delimited: copy: %w", err), b.Release())
	}
	return b, nil
}

// Release gives the memory of the batch back. Columns of it hold theirs.
func (b *Batch) Release() error {
	err := b.memory.Release()
	b.memory = nil
	return err
}

// measure finds the number of bytes and of rows.
func (b *Batch) measure(texts []Text) error {
	for _, t := range texts {
		b.length += uint64(len(t.Bytes))
		if lacksEnd(t.Bytes) {
			b.length++
		}
		b.rows += uint64(t.Rows)
	}
	if b.length > mostBytes {
		return fmt.Errorf("%d bytes: %w", b.length, ErrLong)
	}
	if b.rows > b.length || b.rows*uint64(b.layout.Width) > b.length { // each field has a byte behind it
		return fmt.Errorf("%d rows of %d fields in %d bytes: %w", b.rows, b.layout.Width, b.length, ErrFault)
	}
	return nil
}

// lacksEnd reports whether the last row has no line end.
func lacksEnd(text []byte) bool { return len(text) > 0 && text[len(text)-1] != '\n' }

// copy allocates the memory and copies the texts and the tables of the kernels.
func (b *Batch) copy(ctx context.Context, texts []Text) error {
	stream := b.options.CopyStream
	if stream == nil {
		stream = b.options.Stream
	}
	call, err := op.Begin(ctx, kernels.Options{Manager: b.manager, Stream: stream})
	if err != nil {
		return err
	}
	call.Spare = b.options.CopyStream != nil
	nullTexts, lengths := b.layout.nullTexts()
	names, places, slots := b.layout.memberTables()
	powers, count := textparse.PowersOfFive(), len(b.layout.Columns)
	outcomes := outcomeBytes + count*resultBytes
	var spaces []memory.Slice[uint8]
	if b.memory, spaces, err = call.Scratch(b.length+behind, uint64(len(nullTexts)), uint64(len(powers)), uint64(len(names)), uint64(4*len(places)), uint64(4*len(slots)), uint64(outcomes+count*targetBytes)); err != nil {
		return err
	}
	b.text = textLayout{bytes: spaces[0], length: uint32(b.length), delimiter: uint32(b.layout.Delimiter), width: uint32(b.layout.Width), rows: uint32(b.rows)}
	b.nulls = nullsLayout{lengths: lengths, texts: spaces[1], count: uint32(len(b.layout.Nulls))}
	b.powers = powersLayout{words: spaces[2]}
	b.members = membersLayout{names: spaces[3], places: spaces[4], slots: spaces[5], count: uint32(len(slots))}
	if b.layout.Known {
		b.members.known = 1
	}
	if b.outcome, err = spaces[6].Slice(0, outcomes); err != nil {
		return err
	}
	if b.targets, err = spaces[6].Slice(outcomes, spaces[6].Len()); err != nil {
		return err
	}
	return b.upload(&call, texts, spaces, nullTexts, powers, names, address.BytesOf(places), address.BytesOf(slots))
}

// upload copies texts, and lists to the spaces behind that of the texts.
func (b *Batch) upload(call *op.Call, texts []Text, spaces []memory.Slice[uint8], lists ...[]byte) error {
	var sources []memory.Source
	at := uint64(0)
	add := func(bytes []byte) {
		sources = append(sources, memory.Source{Offset: at, Data: bytes})
		at += uint64(len(bytes))
	}
	for _, t := range texts {
		add(t.Bytes)
		if lacksEnd(t.Bytes) {
			add(lineEnd)
		}
	}
	whole, err := memory.View[uint8](b.memory, 0, int(b.memory.Bytes()))
	if err != nil {
		return err
	}
	for i, list := range lists {
		if at = uint64(spaces[i+1].Pointer()) - uint64(whole.Pointer()); len(list) > 0 {
			add(list)
		}
	}
	return memory.Upload(call.Context(), call.Stream, whole, sources)
}

// nullTexts returns the texts that stand for null, each behind its length, and a bit for each length.
func (l *Layout) nullTexts() (texts []byte, lengths uint64) {
	for _, null := range l.Nulls {
		texts = append(append(texts, byte(len(null))), null...)
		lengths |= 1 << len(null)
	}
	return texts, lengths
}
