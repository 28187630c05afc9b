package arrowdev

import (
	"errors"
	"hash/maphash"
	"log/slog"
	"slices"
	"sync/atomic"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/driver/streamwork"
	"github.com/gpuframe/gpuframe/memory"
)

// tag is the tag of the memory that this package allocates.
const tag = "arrowdev"

// export is the owner of an exported array's tree. It keeps the memory of a table or
// of a column alive.
type export struct {
	table  *buffer.Buffer
	column *column.Column
	// blocks are the blocks of the memory, without duplicates. The first begun of
	// them are held.
	blocks []*memory.Block
	begun  int
	// retained reports whether the table or column is held too.
	retained bool
	// zero is a block that was made for the export and holds a reference, or nil.
	// freeZero frees such memory that is not a block; it may be nil.
	zero     *memory.Block
	freeZero func()
	// event follows the work on the blocks, or is nil if the work was done.
	event *device.Event
	// The memory is reused only after the work on consumer. It may be nil.
	consumer *device.Stream

	// root and sum record the contents of the structs at the export.
	root    cabi.Array
	structs []byte
	seed    maphash.Seed
	sum     uint64

	// awaited reports whether a caller will read the failure.
	awaited atomic.Bool
	failure atomic.Pointer[error]

	few [4]*memory.Block
}

// note adds a block.
func (x *export) note(block *memory.Block) {
	if x.blocks == nil {
		x.blocks = x.few[:0]
	}
	x.blocks = distinct(x.blocks, block)
}

// distinct adds a block to a list unless it is in it.
func distinct(blocks []*memory.Block, block *memory.Block) []*memory.Block {
	if block == nil || len(blocks) > 0 && blocks[len(blocks)-1] == block || slices.Contains(blocks, block) {
		return blocks
	}
	return append(blocks, block)
}

// begin retains everything for the consumer.
func (x *export) begin() error {
	var err error
	if x.table != nil {
		err = x.table.Retain()
	} else {
		err = x.column.Retain()
	}
	if err != nil {
		return faulty("", "%w", err)
	}
	x.retained = true
	for _, block := range x.blocks {
		if err := block.BeginExport(); err != nil {
			return faulty("", "%w", err)
		}
		x.begun++
	}
	return nil
}

// mark records an event after all the work on the blocks, unless the work is done.
func (x *export) mark() error {
	var stream *device.Stream
	for _, block := range x.blocks {
		idle, err := block.Idle()
		if err != nil {
			return err
		}
		if idle {
			continue
		}
		if stream == nil {
			stream = block.WorkStream()
		}
		if err := block.OrderBefore(stream); err != nil {
			return err
		}
	}
	if stream == nil {
		return nil
	}
	var err error
	x.event, err = stream.Record()
	return err
}

// Ended implements [cabi.Owner].
func (x *export) Ended() {
	err := x.end()
	if err == nil {
		return
	}
	if x.awaited.Load() {
		x.failure.Store(&err)
		return
	}
	slog.Error("gpuframe: memory of an Arrow array could not be released", "error", err)
}

// end orders the consumer's work before all later use of the blocks, and releases
// everything.
func (x *export) end() error {
	held := x.blocks[:x.begun]
	var failures []error
	note := func(err error) {
		if err != nil {
			failures = append(failures, err)
		}
	}
	note(orderAll(held, x.consumer))
	// The blocks' last references go last, and their release makes no driver call.
	if x.retained && x.table != nil {
		note(x.table.Release())
	} else if x.retained {
		note(x.column.Release())
	}
	for _, block := range held {
		note(block.EndExport())
	}
	note(x.zero.ReleaseLater())
	if x.freeZero != nil {
		x.freeZero()
	}
	if event := x.event; event != nil && len(held) > 0 {
		// Destroying the event is a driver call, which a consumer's release must not
		// make.
		streamwork.Later(held[0].Device(), func() { _ = event.Close() })
	}
	return errors.Join(failures...)
}
