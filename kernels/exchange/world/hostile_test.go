package world

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/schemajson"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// newJob returns an operation of rank 0 that expects a table of rank 1.
func newJob(ctx context.Context, mgr *memory.Manager) *job {
	w := &World{config: Config{Size: 2, Manager: mgr, at: func() {}}, operations: 1}
	return &job{
		World: w, operation: operation{name: "copy", root: 1, from: []bool{false, true}}, ctx: ctx,
		incoming: make([]*incoming, 2),
	}
}

// receiveAll handles the messages of another rank, without bytes of tables.
func receiveAll(ctx context.Context, mgr *memory.Manager, announced, described []byte) (err error) {
	j := newJob(ctx, mgr)
	if err := j.hear(1, announced); err != nil {
		return err
	}
	blocks := make([]blockMessage, 2)
	if err := j.checkBlock(&blocks[1], described, j.schema.NumFields(), j.rows); err != nil {
		return err
	}
	block, err := mgr.AllocateContext(ctx, max(blocks[1].Bytes, 1), memory.AllocateOptions{})
	if err != nil {
		return err
	}
	columns, err := j.assemble(0, j.schema.NumFields(), blocks, []*memory.Block{nil, block})
	for _, c := range columns {
		err = errors.Join(err, c.Release())
	}
	return errors.Join(err, block.Release())
}

// good returns the messages for a table of 3 rows of int64 and string.
func good() (announcement, blockMessage) {
	schema, err := schemajson.Of(arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int64}, {Name: "b", Type: arrow.BinaryTypes.String}}, nil))
	if err != nil {
		panic(err)
	}
	absent := column.Place{Block: -1}
	return announcement{Operation: "copy", Number: 1, Root: 1, Table: &tableMessage{Schema: schema, Rows: 3, Bytes: 100}},
		blockMessage{Bytes: 1024, Columns: []column.Description{
			{Length: 3, Buffers: []column.Place{absent, {Bytes: 24}}},
			{Length: 3, Buffers: []column.Place{absent, {Offset: 256, Bytes: 16}, {Offset: 512, Bytes: 5}}},
		}}
}

// huge is a size, long a number of rows or bytes that an int holds.
const (
	huge = 1 << 60
	long = math.MaxInt >> 3
)

// Messages that contradict themselves or the budget are errors, and hold no memory.
func TestHostileMessages(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{Budget: 1 << 20})
	a, b := good()
	require.NoError(t, receiveAll(t.Context(), mgr, encode(a), encode(b)))
	for i, change := range []func(a *announcement, b *blockMessage){
		func(a *announcement, _ *blockMessage) { a.Operation = "gather" },
		func(a *announcement, _ *blockMessage) { a.Number = huge },
		func(a *announcement, _ *blockMessage) { a.Root = 0 },
		func(a *announcement, _ *blockMessage) { a.Target = 1 },
		func(a *announcement, _ *blockMessage) { a.Table = nil },
		func(a *announcement, _ *blockMessage) { a.Table.Rows = -1 },
		func(a *announcement, _ *blockMessage) { a.Table.Rows = huge },
		func(a *announcement, _ *blockMessage) { a.Table.Schema.Fields[0].Format = "x" },
		func(a *announcement, _ *blockMessage) { a.Table.Schema.Fields = a.Table.Schema.Fields[:1] },
		func(_ *announcement, b *blockMessage) { b.Bytes = huge },
		func(_ *announcement, b *blockMessage) { b.Bytes = 1<<64 - 1 },
		func(_ *announcement, b *blockMessage) { b.Bytes = 2 << 20 },
		func(_ *announcement, b *blockMessage) { b.Bytes = 100 },
		func(_ *announcement, b *blockMessage) { b.Pieces = []extent{{At: 0, Bytes: 1025}} },
		func(_ *announcement, b *blockMessage) { b.Pieces = []extent{{At: 1025, Bytes: 1}} },
		func(_ *announcement, b *blockMessage) { b.Pieces = []extent{{At: 1, Bytes: math.MaxUint64}} },
		func(_ *announcement, b *blockMessage) { b.Pieces = []extent{{At: 8, Bytes: 0}} },
		func(_ *announcement, b *blockMessage) { b.Pieces = []extent{{At: 0, Bytes: 9}, {At: 8, Bytes: 8}} },
		func(_ *announcement, b *blockMessage) { b.Columns = nil },
		func(_ *announcement, b *blockMessage) { b.Columns[0].Length = long },
		func(_ *announcement, b *blockMessage) { b.Columns[0].Offset = long },
		func(_ *announcement, b *blockMessage) { b.Columns[0].Offset = -1 },
		func(_ *announcement, b *blockMessage) { b.Columns[0].NullCount = long },
		func(_ *announcement, b *blockMessage) { b.Columns[0].NullCount = 2 },
		func(_ *announcement, b *blockMessage) { b.Columns[0].Buffers[1].Bytes = long },
		func(_ *announcement, b *blockMessage) { b.Columns[0].Buffers[1].Bytes = -1 },
		func(_ *announcement, b *blockMessage) { b.Columns[0].Buffers[1].Offset = 1<<64 - 8 },
		func(_ *announcement, b *blockMessage) { b.Columns[0].Buffers[1].Block = 1 },
		func(_ *announcement, b *blockMessage) { b.Columns[0].Buffers = nil },
		func(_ *announcement, b *blockMessage) { b.Columns[1].Children = b.Columns[:1] },
		func(_ *announcement, b *blockMessage) { b.Columns[1].Dictionary = &b.Columns[0] },
	} {
		a, b := good()
		change(&a, &b)
		require.Error(t, receiveAll(t.Context(), mgr, encode(a), encode(b)), "%d", i)
		require.Zero(t, mgr.Stats().InUse, "%d", i)
	}
}

func FuzzMessages(f *testing.F) {
	a, b := good()
	f.Add(encode(a), encode(b))
	f.Add(encode(a), fmt.Appendf(nil, `{"bytes":%d,"columns":[{},{}]}`, uint64(huge)))
	f.Add([]byte("{"), []byte("null"))
	dictionary := b
	dictionary.Columns = []column.Description{b.Columns[0], {Length: 3, Buffers: b.Columns[0].Buffers, Dictionary: &b.Columns[1]}}
	a.Table.Schema.Fields[1] = schemajson.Field{Name: "b", Format: "l", Dictionary: &schemajson.Field{Format: "u"}}
	f.Add(encode(a), encode(dictionary))
	dev := devicetest.Open(f, "host")
	mgr := devicetest.Manager(f, dev, memory.Options{Budget: 1 << 20})
	f.Fuzz(func(t *testing.T, announced, described []byte) {
		_ = receiveAll(t.Context(), mgr, announced, described)
		require.Zero(t, mgr.Stats().InUse)
		var a agreement
		_ = json.Unmarshal(described, &a)
	})
}
