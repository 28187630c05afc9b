package source

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
)

// jsonRecords decodes JSON lines: several blocks of lines in parallel. array.JSONReader
// is not used, because it rounds integers to float64.
type jsonRecords struct {
	lines     *bufio.Reader
	schema    *arrow.Schema
	rows      int // of a block
	allocator arrowmemory.Allocator

	// line is the number of lines that were read.
	line    int
	ended   bool
	decoded []arrow.Record
	current arrow.Record
	err     error
}

// jsonBlock is the length of the text of a block, beyond which it gets no more lines.
const jsonBlock = 4 << 20

// block is a number of lines.
type block struct {
	text  []byte
	first int // its first line, from 1 on
	rows  int
}

func (r *jsonRecords) Retain() {}

func (r *jsonRecords) Release() {
	r.drop()
	for _, record := range r.decoded {
		record.Release()
	}
	r.decoded = nil
}

func (r *jsonRecords) drop() {
	if r.current != nil {
		r.current.Release()
		r.current = nil
	}
}

func (r *jsonRecords) Schema() *arrow.Schema { return r.schema }

func (r *jsonRecords) Record() arrow.Record { return r.current }

func (r *jsonRecords) Err() error { return r.err }

func (r *jsonRecords) Next() bool {
	r.drop()
	if len(r.decoded) == 0 && r.err == nil && !r.ended {
		r.err = r.decode()
	}
	if r.err != nil || len(r.decoded) == 0 {
		return false
	}
	r.current, r.decoded = r.decoded[0], r.decoded[1:]
	return true
}

// decode reads a block for each processor and decodes them.
func (r *jsonRecords) decode() error {
	var blocks []block
	for range runtime.GOMAXPROCS(0) {
		b, err := r.block()
		if err != nil {
			return err
		}
		if b.rows > 0 {
			blocks = append(blocks, b)
		}
		if r.ended {
			break
		}
	}
	records, failures := make([]arrow.Record, len(blocks)), make([]error, len(blocks))
	var decoding sync.WaitGroup
	for i, b := range blocks {
		decoding.Go(func() { records[i], failures[i] = r.record(b) })
	}
	decoding.Wait()
	for i, record := range records {
		if record != nil && errors.Join(failures[:i+1]...) != nil {
			record.Release()
		} else if record != nil {
			r.decoded = append(r.decoded, record)
		}
	}
	return errors.Join(failures...)
}

// block reads lines. Empty lines do not count.
func (r *jsonRecords) block() (block, error) {
	b := block{first: r.line + 1}
	for b.rows < r.rows && len(b.text) < jsonBlock {
		before := len(b.text)
		for {
			part, err := r.lines.ReadSlice('\n')
			b.text = append(b.text, part...)
			if errors.Is(err, io.EOF) {
				r.ended = true
			} else if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
				return block{}, err
			}
			if !errors.Is(err, bufio.ErrBufferFull) {
				break
			}
		}
		if len(bytes.TrimSpace(b.text[before:])) > 0 {
			b.rows++
		}
		if r.ended {
			break
		}
		r.line++
	}
	return b, nil
}

// record decodes a block.
func (r *jsonRecords) record(b block) (record arrow.Record, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("lines from %d on: %w", b.first, err)
		}
	}()
	defer recovered(&err)
	if r.schema.NumFields() == 0 {
		return array.NewRecord(r.schema, nil, int64(b.rows)), nil
	}
	values, _, err := array.FromJSON(r.allocator, arrow.StructOf(r.schema.Fields()...), bytes.NewReader(b.text), array.WithMultipleDocs(), array.WithUseNumber())
	if err != nil {
		return nil, err
	}
	defer values.Release()
	if values.Len() != b.rows || values.NullN() > 0 {
		return nil, fmt.Errorf("%d objects in %d lines, expected one object on each line: %w", values.Len()-values.NullN(), b.rows, ErrContents)
	}
	return array.RecordFromStructArray(values.(*array.Struct), r.schema), nil
}
