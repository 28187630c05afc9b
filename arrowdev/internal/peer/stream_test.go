//go:build cgo && unix && !(386 || arm || mips || mipsle)

package peer_test

import (
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/arrowdev/internal/peer"
)

const recordType = "!+s(a=i;b=+l(item=u);c=c<vu>)"

// batches makes some arrays and the text that draining them must return.
func batches(t *testing.T, n int) (made []*peer.Made, text string) {
	t.Helper()
	for i := range n {
		made = append(made, produce(t, recordType, peer.Options{Seed: uint64(i), Length: 5 * i, Ahead: i}))
		text += "batch\n" + made[i].Text
	}
	return made, text
}

// cell is zeroed C memory until the end of the test.
func cell(t *testing.T, bytes int) unsafe.Pointer {
	t.Helper()
	at := peer.Cell(bytes)
	t.Cleanup(func() { peer.Free(at) })
	return at
}

func TestStreamToTheEnd(t *testing.T) {
	for name, options := range map[string]peer.DrainOptions{
		"once": {}, "asked again": {Further: 3, Schemas: 3}, "kept": {Keep: true},
	} {
		t.Run(name, func(t *testing.T) {
			balanced(t)
			made, want := batches(t, 4)
			stream := cell(t, peer.DeviceStreamBytes)
			peer.Stream(peer.Source{Type: recordType, Batches: made}, stream)
			got := peer.Drain(stream, options, peer.View{})
			require.Empty(t, got.Problems)
			require.Equal(t, want, got.Values)
			require.True(t, got.Ended)
			require.Zero(t, got.Code)

			made, want = batches(t, 3)
			peer.StreamPlain(peer.Source{Type: recordType, Batches: made}, stream)
			got = peer.DrainPlain(stream, options, peer.View{})
			require.Empty(t, got.Problems)
			require.Equal(t, want, got.Values)
		})
	}
}

func TestStreamThatEndsEarly(t *testing.T) {
	balanced(t)
	stream := cell(t, peer.DeviceStreamBytes)
	for after := range 4 {
		made, _ := batches(t, 4)
		peer.Stream(peer.Source{Type: recordType, Batches: made, FailAfter: after, Code: 5, Message: "broken"}, stream)
		got := peer.Drain(stream, peer.DrainOptions{}, peer.View{})
		require.Equal(t, after, got.Batches)
		require.Equal(t, 5, got.Code)
		require.Equal(t, "broken", got.Message)

		made, _ = batches(t, 4)
		peer.Stream(peer.Source{Type: recordType, Batches: made}, stream)
		got = peer.Drain(stream, peer.DrainOptions{Most: after, Batchless: after == 0}, peer.View{})
		require.Equal(t, after, got.Batches)
		require.False(t, got.Ended)
	}
	made, _ := batches(t, 1)
	peer.Stream(peer.Source{Type: recordType, Batches: made, SchemaCode: 12}, stream)
	got := peer.Drain(stream, peer.DrainOptions{}, peer.View{})
	require.Equal(t, 12, got.Code)
	require.Empty(t, got.Message)
}

// numbered returns the values that an asynchronous consumer of all batches must return.
func numbered(text string) string {
	var out strings.Builder
	for i, part := range strings.Split(text, "batch\n")[1:] {
		out.WriteString("batch " + string(rune('0'+i)) + "\n" + part)
	}
	return out.String()
}

func send(t *testing.T, source peer.Source, send peer.SendOptions, receive peer.ReceiveOptions) (peer.Sent, peer.Received) {
	t.Helper()
	receiver := peer.NewReceiver(receive, peer.View{})
	sender := peer.Send(receiver.Handler(), source, send)
	sent, received := sender.Wait(), receiver.Wait()
	require.True(t, sent.Released)
	require.True(t, received.Released)
	require.Empty(t, received.Problems)
	require.Equal(t, sent.Tasks, received.Tasks)
	require.Equal(t, received.Tasks, received.Extracted)
	return sent, received
}

func TestAsynchronousToTheEnd(t *testing.T) {
	balanced(t)
	for _, sending := range []peer.SendOptions{{}, {Metadata: true}, {EndRequested: true}} {
		for _, receiving := range []peer.ReceiveOptions{
			{First: 1, Next: 1}, {First: 100}, {First: 2, Next: 3, Extract: peer.Later},
			{First: 1, Next: 1, RequestLater: true}, {First: 1, Next: 2, RequestLater: true, Extract: peer.Later},
		} {
			made, want := batches(t, 6)
			receiving.CancelAfter, receiving.RefuseAfter = peer.Never, peer.Never
			_, got := send(t, peer.Source{Type: recordType, Batches: made}, sending, receiving)
			require.Equal(t, numbered(want), got.Values)
			require.True(t, got.Ended)
			require.Zero(t, got.Errors)
		}
	}
}

func TestAsynchronousThatEndsEarly(t *testing.T) {
	for name, c := range map[string]struct {
		source    peer.Source
		sending   peer.SendOptions
		receiving peer.ReceiveOptions
		tasks     int
		errors    int
	}{
		"error":         {source: peer.Source{FailAfter: 2, Code: 5, Message: "broken"}, receiving: peer.ReceiveOptions{First: 9, CancelAfter: -1, RefuseAfter: -1}, tasks: 2, errors: 1},
		"error at once": {source: peer.Source{SchemaCode: 5}, receiving: peer.ReceiveOptions{First: 9, CancelAfter: -1, RefuseAfter: -1}, errors: 1},
		"cancel":        {receiving: peer.ReceiveOptions{First: 9, CancelAfter: 2, RefuseAfter: -1}, tasks: 2},
		"cancel first":  {receiving: peer.ReceiveOptions{First: 9, RefuseAfter: -1}},
		"cancel late":   {sending: peer.SendOptions{FinishRequested: true}, receiving: peer.ReceiveOptions{First: 4, CancelAfter: 2, RefuseAfter: -1}, tasks: 4},
		"refuse":        {receiving: peer.ReceiveOptions{First: 9, CancelAfter: -1, RefuseAfter: 3, TaskCode: 7}, tasks: 3},
		"refuse schema": {receiving: peer.ReceiveOptions{First: 9, CancelAfter: -1, RefuseAfter: -1, SchemaCode: 7}},
		"none wanted":   {receiving: peer.ReceiveOptions{First: -1, CancelAfter: -1, RefuseAfter: -1}, errors: 1},
		"discard":       {receiving: peer.ReceiveOptions{First: 9, CancelAfter: -1, RefuseAfter: -1, Extract: peer.Discard}, tasks: 6},
		"some":          {receiving: peer.ReceiveOptions{First: 9, CancelAfter: -1, RefuseAfter: -1, Extract: peer.Some}, tasks: 6},
		"extract fails": {sending: peer.SendOptions{FailExtract: 2}, receiving: peer.ReceiveOptions{First: 1, Next: 1, CancelAfter: -1, RefuseAfter: -1}, tasks: 2, errors: 1},
	} {
		t.Run(name, func(t *testing.T) {
			balanced(t)
			c.source.Type = recordType
			c.source.Batches, _ = batches(t, 6)
			_, got := send(t, c.source, c.sending, c.receiving)
			require.Equal(t, c.tasks, got.Tasks)
			require.Equal(t, c.errors, got.Errors)
			require.Equal(t, c.source.Message, strings.TrimPrefix(strings.TrimPrefix(got.Message, "request of nothing"), "extract_data failed"))
		})
	}
}

func TestAsynchronousCancelFromElsewhere(t *testing.T) {
	balanced(t)
	for after := range 6 {
		for seed := range uint64(10) {
			made, _ := batches(t, 6)
			_, got := send(t, peer.Source{Type: recordType, Batches: made}, peer.SendOptions{FinishRequested: seed%2 == 0}, peer.ReceiveOptions{
				First: 3, Next: 1, Extract: peer.Later, Seed: seed, CancelAfter: after, CancelLater: true, RefuseAfter: peer.Never, RequestLater: seed%3 == 0,
			})
			require.Zero(t, got.Errors)
		}
	}
}
