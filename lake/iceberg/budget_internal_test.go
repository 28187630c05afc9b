package iceberg

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/avro"
	"github.com/twmb/avro/ocf"
)

// manifestOf is a manifest of files with paths of a length.
func manifestOf(t *testing.T, files, length int) []byte {
	schema, err := avro.Parse(`{"type": "record", "name": "e", "fields": [{"name": "status", "type": "int"}, {"name": "data_file", "type": {"type": "record", "name": "r", "fields": [{"name": "file_path", "type": "string"}]}}]}`)
	require.NoError(t, err)
	var data bytes.Buffer
	writer, err := ocf.NewWriter(&data, schema, ocf.WithCodec(ocf.DeflateCodec(-1)))
	require.NoError(t, err)
	for range files {
		require.NoError(t, writer.Encode(map[string]any{"status": 1, "data_file": map[string]any{"file_path": string(bytes.Repeat([]byte("x"), length))}}))
	}
	require.NoError(t, writer.Close())
	return data.Bytes()
}

// All manifests of a snapshot have one limit of files and of bytes, and end when the context does.
func TestBudget(t *testing.T) {
	m := &metadata{Specs: []partitionSpec{{}}}
	data := manifestOf(t, 3000, 1000)
	read := func(ctx context.Context, b *budget) error {
		_, err := m.readManifest(ctx, data, manifest{}, b)
		return err
	}
	b := newBudget(7000, 1<<40)
	require.NoError(t, read(t.Context(), b))
	require.NoError(t, read(t.Context(), b))
	require.ErrorIs(t, read(t.Context(), b), ErrLimit)
	b = newBudget(1<<40, 3000*1100)
	require.ErrorIs(t, read(t.Context(), b), ErrLimit)
	ctx, stop := context.WithCancel(t.Context())
	err := readAvro(ctx, data, entryNames, func(*avroFile, *entry) error { stop(); return nil })
	require.ErrorIs(t, err, context.Canceled)
	// A panic of a caller is none of the decoder.
	require.PanicsWithValue(t, "own", func() {
		_ = readAvro(t.Context(), data, entryNames, func(*avroFile, *entry) error { panic("own") })
	})
	require.ErrorIs(t, decode(func() error { panic("of the decoder") }), ErrMetadata)
}

// Manifests that a write reads have the same limits, and end when the context does.
func TestBudgetOfWrites(t *testing.T) {
	data := manifestOf(t, 3000, 1000)
	b := newBudget(7000, 1<<40)
	for range 2 {
		raw, err := decodeAvro(t.Context(), data, b)
		require.NoError(t, err)
		require.Len(t, raw.records, 3000)
	}
	_, err := decodeAvro(t.Context(), data, b)
	require.ErrorIs(t, err, ErrLimit)
	_, err = decodeAvro(t.Context(), data, newBudget(1<<40, 3000*1000))
	require.ErrorIs(t, err, ErrLimit)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	_, err = decodeAvro(ctx, data, newBudget(7000, 1<<40))
	require.ErrorIs(t, err, context.Canceled)
	for _, bad := range [][]byte{nil, data[:len(data)/2], []byte("Obj")} {
		_, err = decodeAvro(t.Context(), bad, newBudget(7000, 1<<40))
		require.ErrorIs(t, err, ErrMetadata)
	}
}
