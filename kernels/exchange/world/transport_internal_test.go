package world

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/exchange/ranks"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/exchange/internal/pack"
	"github.com/gpuframe/gpuframe/memory"
)

// The ranks choose NCCL if each has another GPU and all have one version of the library. Otherwise the
// first rank that prevents it is named.
func TestChoose(t *testing.T) {
	good := func(gpu string) offer { return offer{GPU: gpu, NCCL: "2.28.3"} }
	chosen, refusal := choose([]offer{good("a"), good("b"), good("c")})
	require.Equal(t, NCCL, chosen)
	require.Nil(t, refusal)
	for want, offers := range map[string][]offer{
		"rank 1: no library: the transport between ranks cannot be used": {good("a"), {Reason: "no library"}, {Reason: "none either"}},
		"rank 2: it has the GPU of rank 0, a: ":                          {good("a"), good("b"), good("a")},
		"rank 1: it has NCCL 2.20.5, rank 0 has NCCL 2.28.3: ":           {good("a"), {GPU: "b", NCCL: "2.20.5"}},
		"rank 0: it does not report a GPU":                               {{}, good("a")},
	} {
		chosen, refusal := choose(offers)
		require.Equal(t, Sockets, chosen)
		require.ErrorContains(t, refusal, want)
		require.ErrorIs(t, refusal, ErrTransport)
	}
	require.Equal(t, []string{"automatic", "NCCL", "pinned memory and sockets", "transport 9"},
		[]string{Automatic.String(), NCCL.String(), Sockets.String(), Transport(9).String()})
}

// A refusal names the rank that fails, and not one that stops because of it.
func TestFirstRefusal(t *testing.T) {
	require.Nil(t, firstRefusal(make([]joined, 3)))
	require.EqualError(t, firstRefusal([]joined{{Reason: "stopped", Stopped: true}, {}, {Reason: "broken"}}), "rank 2: broken: "+ErrTransport.Error())
	require.EqualError(t, firstRefusal([]joined{{}, {Reason: "stopped", Stopped: true}}), "rank 1: stopped: "+ErrTransport.Error())
}

func TestConfigOfTheTransport(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	_, err := Open(t.Context(), Config{Size: 1, Manager: mgr, Transport: 3})
	require.ErrorIs(t, err, device.ErrInvalidValue)
	require.ErrorContains(t, err, "Config.Transport is 3, expected Automatic, NCCL or Sockets")
	w, err := Open(t.Context(), Config{Size: 1, Manager: mgr, Transport: NCCL})
	require.NoError(t, err)
	require.Equal(t, "none (the World has one rank)", w.Transport())
	require.NoError(t, w.Close())
}

// A rank with a message that is no offer is named.
func TestHostileOffers(t *testing.T) {
	for _, message := range []string{"", "{", `{"wants":3}`, `{"wants":-1}`, `{"gpu":7}`} {
		folder, err := os.MkdirTemp("", "w") // sockets have short paths
		require.NoError(t, err)
		address := "unix:" + filepath.Join(folder, "s")
		mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
		var other sync.WaitGroup
		other.Go(func() {
			group, err := ranks.Open(t.Context(), ranks.Config{Rank: 1, Size: 2, Address: address, Protocol: protocol})
			if assert.NoError(t, err) {
				_, _ = group.Exchange(t.Context(), repeat([]byte(message), 2))
				<-group.Down() // after the answer of rank 0
				assert.NoError(t, group.Close())
			}
		})
		_, err = Open(t.Context(), Config{Size: 2, Address: address, Manager: mgr})
		require.ErrorIs(t, err, ErrProtocol, message)
		var failure *RankError
		require.ErrorAs(t, err, &failure)
		require.Equal(t, 1, failure.Rank)
		other.Wait()
		require.NoError(t, os.RemoveAll(folder))
	}
}

// Pieces have the bytes of all regions at their places: copied ones in runs, others by themselves.
func TestPieces(t *testing.T) {
	for _, budget := range []uint64{0, 3 << 20} {
		mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{Budget: budget})
		all, err := memory.NewSlice[uint8](mgr, 3<<20-1000, memory.AllocateOptions{})
		require.NoError(t, err)
		bytes := make([]byte, all.Len())
		for i := range bytes {
			bytes[i] = byte(i ^ i>>8 ^ i>>16)
		}
		require.NoError(t, all.Upload(t.Context(), nil, bytes))
		var p packed
		var want []byte // the block
		for _, r := range [][2]int{{0, 10}, {100, 30}, {1 << 20, directBytes}, {1<<20 + 8, directBytes}, {1 << 10, 77}, {2 << 20, directBytes}, {5, 1}} {
			source, err := all.Slice(r[0], r[0]+r[1])
			require.NoError(t, err)
			p.plan.Regions = append(p.plan.Regions, pack.Region{Source: source, At: p.plan.Bytes})
			want = append(want, bytes[r[0]:r[0]+r[1]]...)
			want = append(want, make([]byte, (256-r[1]%256)%256)...)
			p.plan.Bytes += uint64(r[1]+255) / 256 * 256
		}
		require.NoError(t, p.cut(t.Context(), mgr, true))
		require.NoError(t, checkExtents(p.extents(), p.plan.Bytes))
		pieces := 5 // two, one, two, one and one regions
		if budget > 0 {
			require.Nil(t, p.staged)
			pieces = len(p.plan.Regions)
		}
		require.Len(t, p.pieces, pieces)
		got := make([]byte, p.plan.Bytes)
		for _, piece := range p.pieces {
			require.NoError(t, piece.source.Download(t.Context(), nil, got[piece.at:][:piece.source.Len()]))
		}
		require.True(t, slices.Equal(want, got))
		require.NoError(t, p.Release())
		require.NoError(t, all.Release())
	}
	require.ErrorIs(t, checkExtents([]extent{{At: 0, Bytes: math.MaxUint64}}, 8), ErrProtocol)
}
