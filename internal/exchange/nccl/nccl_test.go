//go:build cgo && linux && (amd64 || arm64)

package nccl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/testing/standin"
)

// A process opens the library once. Each test here therefore runs its scenario in a separate
// process, which opens the library of testdata/fakenccl.c.

const scenarioVariable = "GPUFRAME_NCCL_SCENARIO"

var scenarios = map[string]func(t *testing.T){
	"exchange": scenarioExchange, "abort": scenarioAbort, "not available": scenarioNotAvailable, "multicast": scenarioMulticast,
}

// TestScenario runs in the child.
func TestScenario(t *testing.T) {
	name := os.Getenv(scenarioVariable)
	if name == "" {
		t.Skip("run by the other tests, in a process with another library")
	}
	scenarios[name](t)
}

// compile compiles the stand-in.
func compile(t *testing.T, flags ...string) string {
	return standin.Compile(t, "testdata/fakenccl.c", "libnccl.so.2", flags...)
}

func inChild(t *testing.T, scenario, library string, settings ...string) {
	t.Helper()
	folder, err := os.MkdirTemp("", "n") // sockets have short paths
	require.NoError(t, err)
	defer func() { require.NoError(t, os.RemoveAll(folder)) }()
	command := exec.Command(os.Args[0], "-test.run=^TestScenario$", "-test.v")
	command.Env = append(os.Environ(), PathVariable+"="+library, scenarioVariable+"="+scenario, "FAKE_NCCL_FOLDER="+folder)
	command.Env = append(command.Env, settings...)
	out, err := command.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Contains(t, string(out), "--- PASS: TestScenario")
}

func TestExchange(t *testing.T) {
	inChild(t, "exchange", compile(t), "WANT_NATIVE=0")
	inChild(t, "exchange", compile(t, "-DNATIVE"), "WANT_NATIVE=1")
}

func TestAbort(t *testing.T) { inChild(t, "abort", compile(t)) }

func TestMulticastStaysOff(t *testing.T) {
	library := compile(t)
	inChild(t, "multicast", library, "WANT=0")
	inChild(t, "multicast", library, multicast+"=1", "WANT=1")
}

func TestNotAvailable(t *testing.T) {
	inChild(t, "not available", "/nonexistent/libnccl.so.2", "WANT=nccl: /nonexistent/libnccl.so.2 cannot be used")
	inChild(t, "not available", compile(t, "-DOLD"), "FAKE_NCCL_VERSION=21302", "WANT=has version 2.13.2, expected 2.14.0 or newer: it lacks ncclCommInitRankConfig")
	inChild(t, "not available", compile(t), "FAKE_NCCL_VERSION=2804", "WANT=has version 2.8.4, expected 2.14.0 or newer")
}

func scenarioNotAvailable(t *testing.T) {
	err := Load()
	require.ErrorIs(t, err, ErrNotAvailable)
	require.ErrorContains(t, err, os.Getenv("WANT"))
	var detail *Unavailable
	require.ErrorAs(t, err, &detail)
	_, err = NewID()
	require.ErrorIs(t, err, ErrNotAvailable)
	_, err = Init(-1, ID{}, 0, 1)
	require.ErrorIs(t, err, ErrNotAvailable)
	_, err = Version()
	require.ErrorIs(t, err, ErrNotAvailable)
	require.False(t, HasAllToAll())
}

func scenarioMulticast(t *testing.T) {
	require.NoError(t, Load())
	require.Equal(t, os.Getenv("WANT"), os.Getenv(multicast))
	require.Equal(t, "1", os.Getenv(indirect))
}

// join makes the communicators of all ranks in this process.
func join(t *testing.T, size int) []*Comm {
	id, err := NewID()
	require.NoError(t, err)
	made := make([]*Comm, size)
	for rank := range size {
		made[rank], err = Init(-1, id, rank, size)
		require.NoError(t, err)
	}
	for _, c := range made {
		require.NoError(t, c.Wait(t.Context()))
	}
	return made
}

func at(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }

// block is the bytes from one rank to another one: more than a socket holds.
func block(from, to int) []byte {
	return bytes.Repeat(fmt.Appendf(nil, "%d to %d;", from, to), (from+2*to)*20_000)
}

func scenarioExchange(t *testing.T) {
	version, err := Version()
	require.NoError(t, err)
	require.Equal(t, "2.28.0", version)
	const size = 3
	comms := join(t, size)
	var pinner runtime.Pinner
	defer pinner.Unpin()
	pin := func(b []byte) []byte {
		if len(b) > 0 {
			pinner.Pin(unsafe.SliceData(b))
		}
		return b
	}
	got := make([][][]byte, size)
	for rank, c := range comms {
		var transfers []Transfer
		for other := range size {
			out, in := pin(block(rank, other)), pin(make([]byte, len(block(other, rank))))
			got[rank] = append(got[rank], in)
			transfers = append(transfers, Transfer{Rank: other, Send: true, Pointer: at(out), Bytes: uint64(len(out))},
				Transfer{Rank: other, Pointer: at(in), Bytes: uint64(len(in))})
		}
		require.NoError(t, c.Exchange(0, transfers))
		require.NoError(t, c.Exchange(0, nil))
	}
	for rank, c := range comms {
		require.NoError(t, c.Wait(t.Context()))
		for other := range size {
			require.True(t, bytes.Equal(block(other, rank), got[rank][other]), "from %d to %d", other, rank)
		}
	}
	if require.Equal(t, os.Getenv("WANT_NATIVE") == "1", HasAllToAll()); HasAllToAll() {
		var in [size][]byte
		for rank, c := range comms {
			out := pin([]byte{byte(10 * rank), byte(10*rank + 1), byte(10*rank + 2)})
			in[rank] = pin(make([]byte, size))
			require.NoError(t, c.AllToAll(0, at(out), at(in[rank]), 1))
		}
		for rank, c := range comms {
			require.NoError(t, c.Wait(t.Context()))
			require.Equal(t, []byte{byte(rank), byte(10 + rank), byte(20 + rank)}, in[rank])
		}
	} else {
		require.ErrorContains(t, comms[0].AllToAll(0, 0, 0, 1), "nccl: ncclAlltoAll: invalid usage (5)")
	}
	require.ErrorContains(t, comms[0].Exchange(0, []Transfer{{Rank: 7, Send: true}}), "invalid usage")
	for _, c := range comms {
		require.NoError(t, c.Close(t.Context()))
		require.NoError(t, c.Close(t.Context()))
		require.NoError(t, c.Abort())
		_, err := c.State()
		require.ErrorIs(t, err, errEnded)
		require.ErrorIs(t, c.Exchange(0, nil), errEnded)
		require.ErrorIs(t, c.AllToAll(0, 0, 0, 0), errEnded)
	}
}

var errStop = errors.New("stop")

// Ranks that wait for one that never answers end: by Abort, and by the end of another rank.
func scenarioAbort(t *testing.T) {
	ended, cancel := context.WithCancelCause(t.Context())
	cancel(errStop)
	id, err := NewID()
	require.NoError(t, err)
	alone, err := Init(-1, id, 0, 2) // rank 1 never joins
	require.NoError(t, err)
	require.ErrorIs(t, alone.Wait(ended), errStop)
	require.NoError(t, alone.Abort())

	comms := join(t, 3)
	into := make([]byte, 8)
	var pinner runtime.Pinner
	pinner.Pin(&into[0])
	defer pinner.Unpin()
	receive := []Transfer{{Rank: 1, Pointer: at(into), Bytes: 8}}
	require.NoError(t, comms[0].Exchange(0, receive))
	require.NoError(t, comms[2].Exchange(0, receive))
	require.ErrorIs(t, comms[0].Wait(ended), errStop)
	require.NoError(t, comms[0].Abort())
	var all sync.WaitGroup
	all.Go(func() {
		err := comms[2].Wait(t.Context())
		var failure *Error
		assert.ErrorAs(t, err, &failure)
		assert.True(t, strings.Contains(fmt.Sprint(err), "remote process exited"), "%v", err)
	})
	require.NoError(t, comms[1].Abort())
	all.Wait()
	require.ErrorContains(t, comms[2].Close(t.Context()), "nccl: close: ")
}
