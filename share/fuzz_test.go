package share

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// FuzzRequest checks that a client's message is refused or survives encoding and
// decoding.
func FuzzRequest(f *testing.F) {
	f.Add([]byte(`{"id":1,"operation":"hello","version":1}`))
	f.Add([]byte(`{"id":2,"operation":"open","name":"flights"}`))
	f.Add([]byte(`{"id":3,"operation":"close","reference":9}{}`))
	f.Fuzz(func(t *testing.T, message []byte) {
		r, err := parseRequest(message)
		if err != nil {
			require.ErrorIs(t, err, ErrProtocol)
			return
		}
		require.NotZero(t, r.ID)
		again, err := json.Marshal(r)
		require.NoError(t, err)
		same, err := parseRequest(again)
		require.NoError(t, err)
		require.Equal(t, r, same)
	})
}

// FuzzFrame cuts bytes into messages.
func FuzzFrame(f *testing.F) {
	f.Add([]byte{2, 0, 0, 0, '{', '}', 1, 0, 0, 0, '1'})
	f.Add([]byte{255, 255, 255, 255})
	f.Fuzz(func(t *testing.T, stream []byte) {
		const most = 1 << 20
		reader := bytes.NewReader(stream)
		for {
			before := reader.Len()
			message, err := readFrame(reader, most)
			if err != nil {
				return
			}
			require.NotEmpty(t, message)
			require.Equal(t, len(message)+headerBytes, before-reader.Len())
		}
	})
}

// FuzzAnswer makes columns from a server's message, in blocks of the announced sizes.
func FuzzAnswer(f *testing.F) {
	field := func(name string, t arrow.DataType) arrow.Field {
		return arrow.Field{Name: name, Type: t, Nullable: true}
	}
	schema, err := formatSchema(arrow.NewSchema([]arrow.Field{
		field("n", arrow.PrimitiveTypes.Int64),
		field("l", arrow.ListOf(arrow.BinaryTypes.String)),
		field("d", &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}),
	}, nil))
	require.NoError(f, err)
	numbers := column.Description{Length: 2, Buffers: []column.Place{{Block: -1}, {Block: 0, Bytes: 16}}}
	text := column.Description{Length: 1, Buffers: []column.Place{{Block: -1}, {Block: 1, Bytes: 8}, {Block: 1, Offset: 64, Bytes: 8}}}
	list := column.Description{Length: 2, Buffers: []column.Place{{Block: -1}, {Block: 0, Offset: 64, Bytes: 12}}, Children: []column.Description{text}}
	words := column.Description{Length: 2, NullCount: -1, Buffers: []column.Place{{Block: -1}, {Block: 0, Offset: 128, Bytes: 2}}, Dictionary: &text}
	message, err := json.Marshal(answer{ID: 1, Reference: 1, Table: &description{
		Name: "t", Rows: 2, Serial: 1, Device: DeviceID{Kind: device.Host}, Schema: schema, Blocks: []uint64{4096, 128},
		Columns: []column.Description{numbers, list, words},
	}})
	require.NoError(f, err)
	f.Add(message)
	f.Add([]byte(`{"id":1,"error":{"code":"not found","message":"x"}}`))
	f.Add([]byte(`{"id":1,"tables":[{"name":"t","rows":1,"columns":1,"bytes":8,"device":{"kind":"host","uuid":"00000000000000000000000000000000"}}]}`))
	m := devicetest.Manager(f, devicetest.Open(f, "host"), memory.Options{})
	f.Fuzz(func(t *testing.T, message []byte) {
		a, err := parseAnswer(message)
		if err != nil {
			require.ErrorIs(t, err, ErrProtocol)
			return
		}
		if a.Table != nil {
			makeColumns(t, m, a.Table)
		}
	})
}

func makeColumns(t *testing.T, m *memory.Manager, d *description) {
	schema, err := parseSchema(d.Schema)
	if err != nil || schema.NumFields() != len(d.Columns) || d.bytes() > 1<<20 {
		return
	}
	var blocks []*memory.Block
	for _, bytes := range d.Blocks {
		block, err := m.Allocate(bytes, memory.AllocateOptions{})
		require.NoError(t, err)
		blocks = append(blocks, block)
	}
	for i, described := range d.Columns {
		c, err := described.Column(schema.Field(i).Type, blocks)
		if err != nil {
			continue
		}
		require.EqualValues(t, d.Rows, c.Len())
		require.NoError(t, c.Release())
	}
	require.NoError(t, release.All(blocks))
	require.Zero(t, m.Stats().Blocks)
}

// FuzzSchema makes types from a server's message and checks that they survive encoding
// and decoding.
func FuzzSchema(f *testing.F) {
	message, err := formatSchema(everyType())
	require.NoError(f, err)
	for _, field := range message.Fields {
		text, err := json.Marshal(field)
		require.NoError(f, err)
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var field fieldMessage
		if decode(text, &field) != nil {
			return
		}
		schema, err := parseSchema(schemaMessage{Fields: []fieldMessage{field}})
		if err != nil {
			return
		}
		again, err := formatSchema(schema)
		require.NoError(t, err)
		same, err := parseSchema(again)
		require.NoError(t, err)
		require.True(t, schema.Equal(same), "%v\n%v", schema, same)
	})
}
