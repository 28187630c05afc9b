package arrowipc

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v17/arrow/ipc"
	flatbuffers "github.com/google/flatbuffers/go"
)

// The places of members in the footer of a file, and the length of a block in its lists.
const (
	footerSchemaAt, footerDictionariesAt, footerRecordsAt = 6, 8, 10
	blockBytes                                            = 24
)

// block is the place of a message in a file.
type block struct{ offset, head, body int64 }

// fileChecks checks the messages of a file before arrow-go reads them.
type fileChecks struct {
	file    io.ReaderAt
	size    int64
	limits  Limits
	records []block
}

// checkFile checks the footer of a file and its dictionaries. The records are checked by
// [fileChecks.record].
func checkFile(file io.ReaderAt, size int64, limits Limits) (c *fileChecks, err error) {
	defer Recovered(&err)
	footer, err := readFooter(file, size)
	if err != nil {
		return nil, err
	}
	if err := checkSchema(footer, footerSchemaAt, limits); err != nil {
		return nil, err
	}
	c = &fileChecks{file: file, size: size, limits: limits}
	dictionaries, err := c.blocks(footer, footerDictionariesAt)
	if err != nil {
		return nil, err
	}
	for _, b := range dictionaries {
		if err := c.message(b); err != nil {
			return nil, err
		}
	}
	c.records, err = c.blocks(footer, footerRecordsAt)
	return c, err
}

func readFooter(file io.ReaderAt, size int64) (footer flatbuffers.Table, err error) {
	tail := make([]byte, 4+len(ipc.Magic))
	if size < int64(2*len(tail)) {
		return footer, fmt.Errorf("a file of %d bytes has no footer: %w", size, ErrContents)
	}
	if _, err := file.ReadAt(tail, size-int64(len(tail))); err != nil {
		return footer, err
	}
	length := int64(int32(binary.LittleEndian.Uint32(tail)))
	if length <= 0 || length > size-int64(len(tail)) {
		return footer, fmt.Errorf("the footer has %d bytes, the file %d: %w", length, size, ErrContents)
	}
	data := make([]byte, length)
	if _, err := file.ReadAt(data, size-int64(len(tail))-length); err != nil {
		return footer, err
	}
	return root(data), nil
}

// blocks returns the blocks of a list in the footer, which lie in the file.
func (c *fileChecks) blocks(footer flatbuffers.Table, at flatbuffers.VOffsetT) ([]block, error) {
	place, length := list(footer, at)
	if length < 0 || length > len(footer.Bytes)/blockBytes {
		return nil, fmt.Errorf("the footer of %d bytes lists %d messages: %w", len(footer.Bytes), length, ErrContents)
	}
	blocks := make([]block, length)
	for i := range blocks {
		from := place + flatbuffers.UOffsetT(i)*blockBytes
		b := block{footer.GetInt64(from), int64(footer.GetInt32(from + 8)), footer.GetInt64(from + 16)}
		if b.offset < 0 || b.head < 8 || b.body < 0 || b.offset > c.size-b.head || b.body > c.size-b.head-b.offset {
			return nil, fmt.Errorf("message %d has a head of %d bytes from %d on and a body of %d, the file %d: %w", i, b.head, b.offset, b.body, c.size, ErrContents)
		}
		blocks[i] = b
	}
	return blocks, nil
}

// record checks a record.
func (c *fileChecks) record(i int) (err error) {
	defer Recovered(&err)
	if i >= len(c.records) {
		return fmt.Errorf("record %d is not in the footer, which lists %d: %w", i, len(c.records), ErrContents)
	}
	return c.message(c.records[i])
}

// message checks the head of a message, and the lengths of compressed buffers.
func (c *fileChecks) message(b block) error {
	head := make([]byte, b.head)
	if _, err := c.file.ReadAt(head, b.offset); err != nil {
		return err
	}
	switch binary.LittleEndian.Uint32(head) {
	case 0: // arrow-go expects no length before the head
	case 0xffffffff:
		head = head[8:]
	default:
		head = head[4:]
	}
	buffers, ratio, err := checkHead(root(head), b.body, c.limits)
	if err != nil {
		return err
	}
	var claim [8]byte
	for i, buffer := range buffers {
		if ratio == 0 || buffer.length < 8 {
			continue
		}
		if _, err := c.file.ReadAt(claim[:], b.offset+b.head+buffer.offset); err != nil {
			return err
		}
		if err := checkClaim(i, buffer, claim[:], ratio); err != nil {
			return err
		}
	}
	return nil
}
