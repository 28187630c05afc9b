package source

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/base/release"
)

// block is a number of whole rows of a text file.
type block struct {
	text string
	line int // the number of its first line, from 1 on
	rows int
}

// blockText is the length of the text of a block, beyond which it gets no more rows.
const blockText = 4 << 20

// blocks cuts a text file into blocks.
type blocks struct {
	lines *bufio.Reader
	// quotes reports that a line end between quotes does not end a row.
	quotes bool
	line   int
	ended  bool
	// again is a block that next returns first.
	again block
}

// newBlocks returns the blocks of a file behind its byte order mark.
func newBlocks(file io.Reader, quotes bool) *blocks {
	lines := bufio.NewReaderSize(file, 1<<20)
	if mark, err := lines.Peek(3); err == nil && string(mark) == "\uFEFF" {
		_, _ = lines.Discard(3)
	}
	return &blocks{lines: lines, quotes: quotes, line: 1}
}

// more reports whether next may return rows.
func (b *blocks) more() bool { return b.again.rows > 0 || !b.ended }

// next reads at most a number of rows. It counts lines of space as rows, too. An end
// within quotes ends the last row.
func (b *blocks) next(rows int) (block, error) {
	if first := b.again; first.rows > 0 {
		b.again = block{}
		return first, nil
	}
	var text strings.Builder
	read := block{line: b.line}
	for read.rows < rows && text.Len() < blockText && !b.ended {
		before := text.Len()
		if err := b.row(&text); err != nil {
			return block{}, err
		}
		if text.Len() > before {
			read.rows++
		}
	}
	read.text = text.String()
	return read, nil
}

// row reads the lines of one row.
func (b *blocks) row(text *strings.Builder) error {
	odd := 0
	for {
		part, err := b.lines.ReadSlice('\n')
		text.Write(part)
		if b.quotes {
			odd ^= strings.Count(text.String()[text.Len()-len(part):], `"`) & 1
		}
		switch {
		case errors.Is(err, io.EOF):
			b.ended = true
			return nil
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil:
			return err
		}
		b.line++
		if odd == 0 {
			return nil
		}
	}
}

// blockRecords decodes a text file: several blocks in parallel.
type blockRecords struct {
	blocks *blocks
	schema *arrow.Schema
	rows   int // of a block
	// decode makes a record of a block. It is called concurrently.
	decode func(b block) (arrow.Record, error)

	decoded []arrow.Record
	current arrow.Record
	err     error
}

func (r *blockRecords) Retain() {}

func (r *blockRecords) Release() {
	r.drop()
	release.Arrow(r.decoded)
	r.decoded = nil
}

func (r *blockRecords) drop() {
	if r.current != nil {
		r.current.Release()
		r.current = nil
	}
}

func (r *blockRecords) Schema() *arrow.Schema { return r.schema }

func (r *blockRecords) Record() arrow.Record { return r.current }

func (r *blockRecords) Err() error { return r.err }

func (r *blockRecords) Next() bool {
	r.drop()
	for len(r.decoded) == 0 && r.err == nil && r.blocks.more() {
		r.err = r.decodeBlocks()
	}
	if r.err != nil || len(r.decoded) == 0 {
		return false
	}
	r.current, r.decoded = r.decoded[0], r.decoded[1:]
	return true
}

// decodeBlocks reads a block for each processor and decodes them.
func (r *blockRecords) decodeBlocks() error {
	var read []block
	for range runtime.GOMAXPROCS(0) {
		b, err := r.blocks.next(r.rows)
		if err != nil {
			return err
		}
		if b.rows > 0 {
			read = append(read, b)
		}
		if !r.blocks.more() {
			break
		}
	}
	records, failures := make([]arrow.Record, len(read)), make([]error, len(read))
	var decoding sync.WaitGroup
	for i, b := range read {
		decoding.Go(func() {
			defer recovered(&failures[i])
			records[i], failures[i] = r.decode(b)
		})
	}
	decoding.Wait()
	var failure error
	for i, record := range records {
		if failure == nil {
			failure = failures[i]
		}
		if record != nil && (failure != nil || record.NumRows() == 0) {
			record.Release()
		} else if record != nil {
			r.decoded = append(r.decoded, record)
		}
	}
	return failure
}

// ValueError reports a value of a text file that does not fit the type of its column.
type ValueError struct {
	// Line is the number of the line in which the value's row begins, from 1 on.
	Line int
	// Column is the name of the column, with those of members around it.
	Column string
	// Text is the value.
	Text string
	Type arrow.DataType
	// Remedy is an instruction for the user.
	Remedy string
}

// Error implements error.
func (e *ValueError) Error() string {
	return fmt.Sprintf("line %d, column %q of %v: %.100q does not fit the type of its column: %s", e.Line, e.Column, e.Type, e.Text, e.Remedy)
}

// Unwrap returns ErrContents.
func (e *ValueError) Unwrap() error { return ErrContents }
