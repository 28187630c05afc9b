//go:build cgo && unix && !(386 || arm || mips || mipsle)

package arrowdev_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/arrowdev"
	"github.com/gpuframe/gpuframe/arrowdev/internal/peer"
	"github.com/gpuframe/gpuframe/buffer"
)

const batchType = "!+s(a=i;b=+l(item=u);c=c<vu>;d=+us:1,2(x=l;y=u))"

// source makes a stream of n batches in the peer, and their texts.
func (s *peerScene) source(t *testing.T, n int) (source peer.Source, texts []string) {
	t.Helper()
	source = peer.Source{Type: batchType, DeviceType: s.view.DeviceType}
	for i := range n {
		made := s.produce(t, batchType, peer.Options{Seed: uint64(i), Length: 4 * i, Ahead: i}, i%2 == 0)
		source.Batches = append(source.Batches, made)
		texts = append(texts, made.Text)
	}
	return source, texts
}

// requireTakenBack requires that the peer's objects are released, except the schemas
// of its batches.
func requireTakenBack(t *testing.T, source peer.Source) {
	t.Helper()
	for _, batch := range source.Batches {
		batch.Free()
	}
	require.Zero(t, peer.Counts())
}

// readTexts reads at most the given number of batches.
func readTexts(t *testing.T, reader buffer.Reader, most int) (texts []string, err error) {
	t.Helper()
	for range most {
		table, err := reader.Next(t.Context())
		if err != nil {
			require.Nil(t, table)
			return texts, err
		}
		texts = append(texts, rowsText(t, table))
	}
	return texts, nil
}

func TestPeerStreamIsRead(t *testing.T) {
	onEachPeerDevice(t, func(t *testing.T, s *peerScene) {
		stream := peerCell(t, peer.DeviceStreamBytes)
		for most := range 6 {
			source, want := s.source(t, 4)
			peer.Stream(source, stream)
			reader, err := arrowdev.ImportStream(s.Manager, stream)
			require.NoError(t, err)
			require.Len(t, reader.Schema().Fields(), 4)
			got, err := readTexts(t, reader, most)
			require.Equal(t, want[:min(most, 4)], append([]string{}, got...))
			if most > 4 {
				require.ErrorIs(t, err, io.EOF)
				_, err = reader.Next(t.Context())
				require.ErrorIs(t, err, io.EOF)
			}
			require.NoError(t, reader.Close())
			require.NoError(t, reader.Close())
			requireTakenBack(t, source)
		}
	})
}

func TestPeerStreamThatFails(t *testing.T) {
	onEachPeerDevice(t, func(t *testing.T, s *peerScene) {
		stream := peerCell(t, peer.DeviceStreamBytes)
		for after := range 4 {
			source, want := s.source(t, 4)
			source.FailAfter, source.Code, source.Message = after, 5, "the disk is on fire"
			peer.Stream(source, stream)
			reader, err := arrowdev.ImportStream(s.Manager, stream)
			require.NoError(t, err)
			got, err := readTexts(t, reader, 9)
			require.ErrorContains(t, err, "the disk is on fire")
			require.NotErrorIs(t, err, io.EOF)
			require.Equal(t, want[:after], append([]string{}, got...))
			_, again := reader.Next(t.Context())
			require.Error(t, again)
			require.NotErrorIs(t, again, io.EOF)
			require.NoError(t, reader.Close())
			requireTakenBack(t, source)
		}
		source, _ := s.source(t, 2)
		source.SchemaCode = 12 // and no message
		peer.Stream(source, stream)
		_, err := arrowdev.ImportStream(s.Manager, stream)
		require.Error(t, err)
		requireTakenBack(t, source)
	})
}

// Batches outlive the stream that they came from.
func TestPeerStreamIsClosedBeforeItsBatches(t *testing.T) {
	onEachPeerDevice(t, func(t *testing.T, s *peerScene) {
		stream := peerCell(t, peer.DeviceStreamBytes)
		source, want := s.source(t, 3)
		peer.Stream(source, stream)
		reader, err := arrowdev.ImportStream(s.Manager, stream)
		require.NoError(t, err)
		var tables []*buffer.Buffer
		for range 3 {
			table, err := reader.Next(t.Context())
			require.NoError(t, err)
			tables = append(tables, table)
		}
		require.NoError(t, reader.Close())
		require.Zero(t, peer.Counts().Streams)
		for i, table := range tables {
			require.Equal(t, want[i], rowsText(t, table))
		}
	})
}

func TestPeerPlainStreamIsRead(t *testing.T) {
	s := newHostPeerScene(t)
	stream := peerCell(t, peer.StreamBytes)
	for _, code := range []int{0, 5} {
		source, want := s.source(t, 4)
		source.FailAfter, source.Code, source.Message = 2, code, "broken"
		peer.StreamPlain(source, stream)
		reader, err := arrowdev.ImportRecordReader(stream)
		require.NoError(t, err)
		var got []string
		for reader.Next() {
			got = append(got, peer.RecordText(reader.Record()))
		}
		if code == 0 {
			require.NoError(t, reader.Err())
			require.Equal(t, want, got)
		} else {
			require.ErrorContains(t, reader.Err(), "broken")
			require.Equal(t, want[:2], got)
		}
		reader.Release()
		requireTakenBack(t, source)
	}
}

// peerTables is a buffer.Reader of tables of a record's rows, which may fail.
type peerTables struct {
	t       *testing.T
	s       *peerScene
	records []arrow.Record
	failure error
	closed  bool
}

func (r *peerTables) Schema() *arrow.Schema { return r.records[0].Schema() }

func (r *peerTables) Next(context.Context) (*buffer.Buffer, error) {
	require.False(r.t, r.closed, "read after Close")
	switch {
	case len(r.records) > 1: // the first only gives the schema
		record := r.records[1]
		r.records = append(r.records[:1:1], r.records[2:]...)
		return buffer.FromRecord(r.s.Manager, record)
	case r.failure != nil:
		return nil, r.failure
	}
	return nil, io.EOF
}

func (r *peerTables) Close() error {
	r.closed = true
	return nil
}

var errPeer = errors.New("broken on purpose")

// reader makes a reader of n tables, and their texts.
func (s *peerScene) reader(t *testing.T, n int, failure error) (*peerTables, []string) {
	t.Helper()
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, arrow.NewSchema([]arrow.Field{
		{Name: "n", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, {Name: "s", Type: arrow.BinaryTypes.String},
	}, nil))
	defer b.Release()
	r, texts := &peerTables{t: t, s: s, failure: failure}, []string{}
	for i := range n + 1 {
		for k := range i * 3 {
			b.Field(0).(*array.Int64Builder).AppendValues([]int64{int64(k)}, []bool{k%2 == 0})
			b.Field(1).(*array.StringBuilder).Append(strings.Repeat("x", k))
		}
		record := b.NewRecord()
		t.Cleanup(record.Release)
		r.records = append(r.records, record)
		if i > 0 {
			texts = append(texts, peer.RecordText(record))
		}
	}
	return r, texts
}

func TestPeerDrainsExportedStream(t *testing.T) {
	for name, options := range map[string]peer.DrainOptions{
		"once": {}, "schema again": {Further: 3, Schemas: 3}, "kept": {Keep: true}, "early": {Most: 2}, "immediately": {Batchless: true},
	} {
		t.Run(name, func(t *testing.T) {
			onEachPeerDevice(t, func(t *testing.T, s *peerScene) {
				for _, failure := range []error{nil, errPeer} {
					source, want := s.reader(t, 4, failure)
					stream := peerCell(t, peer.DeviceStreamBytes)
					require.NoError(t, arrowdev.ExportStream(s.Manager, source, stream))
					got := peer.Drain(stream, options, s.view)
					require.Empty(t, got.Problems)
					require.Equal(t, "batch\n"+strings.Join(want[:got.Batches], "batch\n"), "batch\n"+strings.TrimPrefix(got.Values, "batch\n"))
					require.True(t, source.closed)
					switch {
					case options.Most > 0 || options.Batchless:
						require.Equal(t, options.Most, got.Batches)
					case failure != nil:
						require.NotZero(t, got.Code)
						require.Contains(t, got.Message, failure.Error())
						require.Equal(t, 4, got.Batches)
					default:
						require.True(t, got.Ended)
						require.Equal(t, 4, got.Batches)
					}
					s.requireNothing(t)
				}
			})
		})
	}
}

func TestPeerDrainsExportedRecordReader(t *testing.T) {
	s := newHostPeerScene(t)
	source, want := s.reader(t, 4, nil)
	reader, err := array.NewRecordReader(source.Schema(), source.records[1:])
	require.NoError(t, err)
	defer reader.Release()
	stream := peerCell(t, peer.StreamBytes)
	require.NoError(t, arrowdev.ExportRecordReader(reader, stream))
	got := peer.DrainPlain(stream, peer.DrainOptions{Further: 1}, peer.View{})
	require.Empty(t, got.Problems)
	require.Equal(t, "batch\n"+strings.Join(want, "batch\n"), got.Values)
}
