package arrowipc

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

const (
	// mostLZ4 and mostZstd are the ratios that the formats can reach.
	mostLZ4  = 256
	mostZstd = 1 << 15
	// mostTrusted is the length of a body that arrow-go may allocate before its bytes have
	// been read.
	mostTrusted = 64 << 20
)

// frames passes an Arrow stream on, message by message. arrow-go allocates the length that a
// message claims and reads it then. frames reads first, and so no more memory is
// allocated than the stream has bytes, apart from bodies of up to mostTrusted bytes.
type frames struct {
	from   io.Reader
	limits Limits
	// read was read and not passed on. body follows it, and is passed on as it is.
	read bytes.Buffer
	body int64
	// ended reports that the mark of the end was read.
	ended bool
	// most is the length that a buffer of the message can have.
	most int64
}

// framed is the allocator of a stream's reader: arrow-go takes the length of a buffer from
// beyond the list of buffers if that is too short.
type framed struct {
	Bounded
	frames *frames
}

// Allocate implements arrowmemory.Allocator.
func (f framed) Allocate(size int) []byte {
	f.check(size)
	return f.Bounded.Allocate(size)
}

// Reallocate implements arrowmemory.Allocator.
func (f framed) Reallocate(size int, old []byte) []byte {
	f.check(size)
	return f.Bounded.Reallocate(size, old)
}

func (f framed) check(size int) {
	Bounded{Most: int(min(max(f.frames.most, mostTrusted), int64(f.Most)))}.check(size)
}

// Read implements io.Reader.
func (f *frames) Read(p []byte) (int, error) {
	if f.read.Len() == 0 && f.body == 0 && !f.ended {
		if err := f.message(); err != nil {
			return 0, err
		}
	}
	if f.read.Len() > 0 {
		return f.read.Read(p)
	}
	if f.body == 0 {
		return 0, io.EOF
	}
	n, err := f.from.Read(p[:min(int64(len(p)), f.body)])
	f.body -= int64(n)
	return n, err
}

// message reads the head of the next message. At the end of the stream it returns io.EOF.
func (f *frames) message() (err error) {
	defer Recovered(&err)
	if err := f.take(4); err != nil {
		return err
	}
	length := binary.LittleEndian.Uint32(f.read.Bytes())
	if length == 0xffffffff { // newer streams have a mark before the length
		if err := f.take(4); err != nil {
			return early(err)
		}
		length = binary.LittleEndian.Uint32(f.read.Bytes()[4:])
	}
	if length == 0 {
		f.ended = true
		return nil
	}
	prefix := f.read.Len()
	if int32(length) < 0 {
		return fmt.Errorf("a message has a head of %d bytes: %w", int32(length), ErrContents)
	}
	if err := f.take(int64(length)); err != nil {
		return early(err)
	}
	head := root(f.read.Bytes()[prefix:])
	f.body = head.GetInt64Slot(messageBodyAt, 0)
	buffers, ratio, err := checkHead(head, f.body, f.limits)
	if err != nil {
		return err
	}
	if f.most = f.body; ratio > 0 {
		f.most = min(f.body, math.MaxInt64/ratio) * ratio
	}
	if f.body <= mostTrusted && ratio == 0 {
		return nil
	}
	body, begin := f.body, f.read.Len()
	f.body = 0
	if err := f.take(body); err != nil {
		return early(err)
	}
	return checkCompressed(f.read.Bytes()[begin:], buffers, ratio)
}

// bodyBuffer is a buffer in the body of a message.
type bodyBuffer struct{ offset, length int64 }

// checkCompressed checks the lengths of buffers after decompression, which arrow-go
// allocates before it decompresses them.
func checkCompressed(body []byte, buffers []bodyBuffer, ratio int64) error {
	for i, b := range buffers {
		if ratio == 0 || b.length < 8 {
			continue
		}
		if err := checkClaim(i, b, body[b.offset:], ratio); err != nil {
			return err
		}
	}
	return nil
}

// checkClaim checks the length of buffer i after decompression, with which its bytes begin.
func checkClaim(i int, b bodyBuffer, bytes []byte, ratio int64) error {
	claimed := int64(binary.LittleEndian.Uint64(bytes))
	if claimed < -1 || claimed/ratio > b.length {
		return fmt.Errorf("buffer %d of a message has %d bytes, and %d after decompression: %w", i, b.length, claimed, ErrContents)
	}
	return nil
}

// take reads n bytes. It returns io.EOF if there is not one.
func (f *frames) take(n int64) error {
	got, err := io.CopyN(&f.read, f.from, n)
	if err == io.EOF && got > 0 {
		return early(err)
	}
	return err
}

// early is the error of a message that is not complete.
func early(err error) error {
	if err == io.EOF {
		return fmt.Errorf("a message ends early: %w", ErrContents)
	}
	return err
}
