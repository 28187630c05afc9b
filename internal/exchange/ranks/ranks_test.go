package ranks

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/testing/await"
)

// unixAddress returns a short path: that of a socket has at most 104 bytes.
func unixAddress(t testing.TB) string {
	folder, err := os.MkdirTemp("", "r")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(folder)) })
	return "unix:" + filepath.Join(folder, "s")
}

// place is an address at which rank 0 listens already.
type place struct {
	address  string
	listener net.Listener
}

func unixPlace(t testing.TB) place { return place{address: unixAddress(t)} }

// tcpPlace listens at a free port of this machine.
func tcpPlace(t testing.TB) place {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	return place{"tcp:" + listener.Addr().String(), listener}
}

func (p place) config(rank, size int) Config {
	c := config(p.address, rank, size)
	if rank == 0 {
		c.Listener = p.listener
	}
	return c
}

// each runs f for each rank, and returns the errors.
func each(size int, f func(rank int) error) []error {
	failures := make([]error, size)
	var all sync.WaitGroup
	for rank := range size {
		all.Go(func() { failures[rank] = f(rank) })
	}
	all.Wait()
	return failures
}

func config(address string, rank, size int) Config {
	return Config{Rank: rank, Size: size, Address: address, Protocol: "test 1", Patience: await.Limit}
}

// openAll opens all ranks of a group in this process. It closes them at the end of the test.
func openAll(t testing.TB, at place, size int) []*Group {
	groups := make([]*Group, size)
	for rank, err := range each(size, func(rank int) (err error) {
		groups[rank], err = Open(t.Context(), at.config(rank, size))
		return err
	}) {
		require.NoError(t, err, "rank %d", rank)
		t.Cleanup(func() { assert.NoError(t, groups[rank].Close()) })
	}
	return groups
}

func messages(g *Group, round int) [][]byte {
	made := make([][]byte, g.size)
	for to := range made {
		made[to] = bytes.Repeat(fmt.Appendf(nil, "%d to %d in %d;", g.rank, to, round), 1+round*g.rank*100)
	}
	return made
}

func TestExchange(t *testing.T) {
	for _, network := range []func(testing.TB) place{unixPlace, tcpPlace} {
		for size := 1; size <= 5; size++ {
			at := network(t)
			t.Run(fmt.Sprint(at.address[:4], size), func(t *testing.T) {
				groups := openAll(t, at, size)
				for rank, err := range each(size, func(rank int) error {
					g := groups[rank]
					for round := range 20 {
						got, err := g.Exchange(t.Context(), messages(g, round))
						if err != nil {
							return err
						}
						for from := range got {
							if want := messages(groups[from], round)[rank]; !bytes.Equal(got[from], want) {
								return fmt.Errorf("from %d: %q instead of %q", from, got[from], want)
							}
						}
					}
					for other := range size {
						if other == rank {
							continue
						}
						if _, err := g.Data(other).Write([]byte{byte(rank)}); err != nil {
							return err
						}
					}
					for other := range size {
						var one [1]byte
						if other == rank {
							continue
						}
						if _, err := io.ReadFull(g.Data(other), one[:]); err != nil || int(one[0]) != other {
							return fmt.Errorf("data of rank %d: %d, %w", other, one[0], err)
						}
					}
					return nil
				}) {
					require.NoError(t, err, "rank %d", rank)
				}
				if path, found := strings.CutPrefix(at.address, "unix:"); found {
					_, err := os.Stat(path)
					require.ErrorIs(t, err, os.ErrNotExist, "the listener is closed")
				}
			})
		}
	}
}

// die closes the connections of a rank as the end of its process does.
func (g *Group) die() {
	g.once.Do(func() { // without a notice
		g.cause = ErrClosed
		close(g.down)
	})
	for _, p := range g.peers {
		p.close()
	}
}

// All survivors name the rank that died, by messages and by data.
func TestALostRankIsNamed(t *testing.T) {
	for lost := range 4 {
		for _, with := range []string{"messages", "data"} {
			t.Run(fmt.Sprint(with, lost), func(t *testing.T) {
				groups := openAll(t, unixPlace(t), 4)
				for rank, err := range each(4, func(rank int) error {
					g := groups[rank]
					if rank == lost {
						g.die()
						return nil
					}
					if with == "messages" {
						_, err := g.Exchange(t.Context(), messages(g, 0))
						return err
					}
					var failures []error
					for other := range 4 {
						if other != rank {
							_, err := g.Data(other).Read(make([]byte, 1))
							failures = append(failures, g.Lost(other, err))
						}
					}
					for _, err := range failures {
						if !errors.Is(err, failures[0]) {
							return errors.Join(failures...)
						}
					}
					return failures[0]
				}) {
					if rank == lost {
						continue
					}
					var failure *RankError
					require.ErrorAs(t, err, &failure)
					require.Equal(t, lost, failure.Rank, "%v", err)
					require.ErrorIs(t, groups[rank].Err(), err)
					require.Contains(t, err.Error(), fmt.Sprintf("rank %d", lost))
				}
			})
		}
	}
}

var errOwn = errors.New("no memory is left")

// A data connection ends and no message names a rank: the other end is lost when the patience ends.
func TestPatience(t *testing.T) {
	at := unixPlace(t)
	groups := make([]*Group, 2)
	for rank, err := range each(2, func(rank int) (err error) {
		c := at.config(rank, 2)
		if rank == 0 {
			c.Patience = time.Nanosecond
		}
		groups[rank], err = Open(t.Context(), c)
		return err
	}) {
		require.NoError(t, err, "rank %d", rank)
		t.Cleanup(func() { assert.NoError(t, groups[rank].Close()) })
	}
	err := groups[0].Lost(1, errOwn)
	require.ErrorIs(t, err, ErrLost)
	require.ErrorIs(t, err, errOwn)
	var failure *RankError
	require.ErrorAs(t, err, &failure)
	require.Equal(t, 1, failure.Rank)
	require.ErrorIs(t, groups[0].Err(), err)
}

// An error of one rank ends the group; the others get its text.
func TestFail(t *testing.T) {
	groups := openAll(t, unixPlace(t), 3)
	require.ErrorIs(t, groups[1].Fail(errOwn), errOwn)
	for _, rank := range []int{0, 2} {
		_, err := groups[rank].Exchange(t.Context(), messages(groups[rank], 0))
		var failure *RankError
		require.ErrorAs(t, err, &failure)
		require.Equal(t, 1, failure.Rank)
		require.ErrorContains(t, err, errOwn.Error())
	}
	_, err := groups[1].Exchange(t.Context(), messages(groups[1], 0))
	require.ErrorIs(t, err, errOwn)
}

// A rank may leave when the others need it no more, and not before.
func TestLeave(t *testing.T) {
	groups := openAll(t, unixPlace(t), 2)
	for _, err := range each(2, func(rank int) error {
		_, err := groups[rank].Exchange(t.Context(), messages(groups[rank], 0))
		if rank == 1 {
			return errors.Join(err, groups[1].Close())
		}
		return err
	}) {
		require.NoError(t, err)
	}
	_, err := groups[0].Exchange(t.Context(), messages(groups[0], 1))
	require.ErrorContains(t, err, "rank 1")
	_, err = groups[1].Exchange(t.Context(), messages(groups[1], 1))
	require.ErrorIs(t, err, ErrClosed)
}

func TestContextOfAnExchangeEnds(t *testing.T) {
	groups := openAll(t, unixPlace(t), 3)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errOwn)
	_, err := groups[2].Exchange(ctx, messages(groups[2], 0))
	require.ErrorIs(t, err, errOwn)
	for _, rank := range []int{0, 1} {
		<-groups[rank].Down()
		require.ErrorContains(t, groups[rank].Err(), "rank 2")
	}
}

// The others fail if the context of a rank ends before all have joined.
func TestContextOfOpenEnds(t *testing.T) {
	address := unixAddress(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	errs := make(chan error, 3)
	for rank := range 2 { // of three
		go func() {
			_, err := Open(ctx, config(address, rank, 3))
			errs <- err
		}()
	}
	cancel(errOwn)
	for range 2 {
		require.ErrorIs(t, <-errs, errOwn)
	}
	_, err := Open(ctx, config("unix:/nonexistent/s", 1, 2))
	require.ErrorIs(t, err, errOwn)
	require.ErrorContains(t, err, "connect to rank 0 at unix:/nonexistent/s")
}

func TestRanksThatDoNotMatch(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*Config)
		want   string
	}{
		"protocol": {func(c *Config) { c.Protocol = "test 2" }, `has protocol "test 2", rank 0 has "test 1"`},
		"size":     {func(c *Config) { c.Size = 7 }, "expects 7 ranks"},
		"twice":    {func(c *Config) { c.Rank = 1 }, "joined twice"},
	} {
		t.Run(name, func(t *testing.T) {
			at := tcpPlace(t)
			// A rank that comes when rank 0 has failed waits until its context ends.
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			for rank, err := range each(3, func(rank int) error {
				c := at.config(rank, 3)
				if rank == 2 {
					test.change(&c)
				}
				g, err := Open(ctx, c)
				if rank == 0 {
					cancel()
				}
				if err == nil {
					err = g.Close()
				}
				return err
			}) {
				require.Error(t, err, "rank %d", rank)
				if rank == 0 {
					require.ErrorIs(t, err, ErrMismatch)
					require.ErrorContains(t, err, test.want)
				}
			}
		})
	}
}

func TestConfigs(t *testing.T) {
	for _, c := range []Config{
		{}, {Size: -1}, {Size: 1 << 20}, {Rank: -1, Size: 2}, {Rank: 2, Size: 2}, {Size: 2},
		{Size: 2, Address: "/path"}, {Size: 2, Address: "udp:a:1"}, {Size: 2, Address: "unix:"},
	} {
		_, err := Open(t.Context(), c)
		require.Error(t, err, "%+v", c)
	}
	_, err := Open(t.Context(), config("unix:/nonexistent/s", 0, 2))
	require.ErrorIs(t, err, os.ErrNotExist)
}

// Open closes the listener that it is given, also if the configuration is wrong.
func TestTheListenerIsClosed(t *testing.T) {
	for _, c := range []Config{{Size: -1}, {Size: 1}, {Rank: 2, Size: 2}} {
		c.Listener = tcpPlace(t).listener
		g, err := Open(t.Context(), c)
		require.Equal(t, c.Size == 1, err == nil)
		require.ErrorIs(t, c.Listener.Close(), net.ErrClosed, "%+v", c)
		if g != nil {
			require.NoError(t, g.Close())
		}
	}
}

// brokenListener is a listener of a process that has too many open files.
type brokenListener struct{ net.Listener }

var errFiles = errors.New("too many open files")

func (brokenListener) Accept() (net.Conn, error) { return nil, errFiles }

// A rank that cannot accept connections fails, instead of waiting for ranks that cannot join.
func TestNoConnectionIsAccepted(t *testing.T) {
	at := tcpPlace(t)
	at.listener = brokenListener{at.listener}
	_, err := Open(await.Context(t), at.config(0, 2))
	require.ErrorIs(t, err, errFiles)
}

// The addresses of the largest group fit the message of rank 0.
func TestWelcomeOfTheLargestGroup(t *testing.T) {
	w := welcome{Session: newSession(), Addresses: slices.Repeat([]string{"unix:" + strings.Repeat("p", 104)}, mostRanks)}
	var got welcome
	require.NoError(t, readJSON(bytes.NewReader(frameJSON(welcomeFrame, w)), welcomeFrame, &got))
	require.Equal(t, w, got)
}

// hostile is bytes that are no message of a rank that joins.
func hostile() [][]byte {
	long := frame(helloFrame, nil)
	binary.LittleEndian.PutUint32(long[8:], 1<<32-1)
	return [][]byte{
		nil, []byte("GET / HTTP/1.1\r\n\r\n"), long, frame(helloFrame, []byte("{")), frame(helloFrame, []byte(`{"rank":"x"}`)),
		frame(messageFrame, nil), frame(kinds, nil), frame(0, nil), frame(helloFrame, nil)[:7], frameJSON(welcomeFrame, welcome{}),
		frameJSON(helloFrame, hello{Protocol: "test 1", Rank: 1, Size: 2, Session: "another"}),
		frameJSON(helloFrame, hello{Protocol: "test 1", Rank: 1, Size: 2, Data: true}),
	}
}

// Strangers that connect are disconnected, and the ranks join. Some of them send nothing.
func TestStrangers(t *testing.T) {
	address := unixAddress(t)
	listening, joined := make(chan struct{}), make(chan struct{})
	var strangers []net.Conn
	for rank, err := range each(2, func(rank int) error {
		if rank == 1 {
			for _, bytes := range hostile() {
				connection, err := dial(t.Context(), address)
				if err != nil {
					return err
				}
				if strangers = append(strangers, connection); len(bytes) > 0 {
					if _, err := connection.Write(bytes); err != nil {
						return err
					}
				}
			}
			close(listening)
		}
		g, err := Open(t.Context(), config(address, rank, 2))
		if err == nil {
			err = g.Close()
		}
		return err
	}) {
		require.NoError(t, err, "rank %d", rank)
	}
	<-listening
	close(joined)
	for _, connection := range strangers {
		_, err := io.Copy(io.Discard, connection)
		if err != nil {
			require.ErrorContains(t, err, "reset")
		}
		require.NoError(t, connection.Close())
	}
}

// A member that sends what is no message is named.
// TestSecret has processes without the secret try to join. They are refused, and the group waits for
// its ranks.
func TestSecret(t *testing.T) {
	for _, at := range []place{unixPlace(t), tcpPlace(t)} {
		for rank, err := range each(3, func(rank int) error {
			c := at.config(rank, 3)
			for _, wrong := range []string{"", "another secret"} {
				if c.Secret = wrong; rank == 0 {
					continue
				}
				_, err := Open(t.Context(), c)
				if err == nil || !strings.Contains(err.Error(), "it does not have the secret of rank 0") {
					return fmt.Errorf("with the secret %q: %v", wrong, err)
				}
			}
			c.Secret = "the secret"
			g, err := Open(t.Context(), c)
			if err != nil {
				return err
			}
			_, err = g.Exchange(t.Context(), messages(g, 1))
			return errors.Join(err, g.Close())
		}) {
			require.NoError(t, err, "rank %d", rank)
		}
	}
}

// TestSecretOfRankZero refuses a rank 0 that does not have the secret.
func TestSecretOfRankZero(t *testing.T) {
	for _, wrong := range []string{"", "another secret"} {
		at := tcpPlace(t)
		ctx, cancel := context.WithCancel(t.Context())
		failures := each(2, func(rank int) error {
			c := at.config(rank, 2)
			if c.Secret = wrong; rank == 1 {
				c.Secret = "the secret"
				defer cancel()
			}
			g, err := Open(ctx, c)
			if err == nil {
				err = g.Close()
			}
			return err
		})
		require.Error(t, failures[0])
		require.ErrorContains(t, failures[1], "it does not have the secret of rank")
	}
}

// TestProofs are of one message each: a changed or a repeated one has none.
func TestProofs(t *testing.T) {
	s := secret("the secret")
	h := s.prove(hello{Protocol: "p", Rank: 1, Size: 2, Address: "tcp:a"})
	require.True(t, s.proved(h))
	require.NotContains(t, string(frameJSON(helloFrame, h)), "the secret")
	again := s.prove(hello{Protocol: "p", Rank: 1, Size: 2, Address: "tcp:a"})
	require.NotEqual(t, h.Proof, again.Proof)
	w := s.answer(welcome{Session: "s", Addresses: []string{"", "tcp:a"}}, h.Nonce)
	require.True(t, s.answered(w, h))
	require.False(t, s.answered(w, again))
	h.Address, w.Addresses = "tcp:b", []string{"", "tcp:b"}
	require.False(t, s.proved(h))
	require.False(t, s.answered(w, h))
}

func TestHostileMembers(t *testing.T) {
	long := frame(messageFrame, nil)
	binary.LittleEndian.PutUint32(long[8:], 1<<32-1)
	many := bytes.Repeat(frame(messageFrame, nil), mostUnread+1)
	for i, sent := range [][]byte{
		[]byte("GET / HTTP/1.1\r\n\r\n"), long, many, frame(helloFrame, nil), frame(failedFrame, []byte("{")),
		frameJSON(failedFrame, failed{Rank: 9}), frameJSON(failedFrame, failed{Rank: -1}), frame(kinds, nil),
	} {
		groups := openAll(t, unixPlace(t), 3)
		_, err := groups[1].peers[0].control.Write(sent)
		require.NoError(t, err)
		<-groups[0].Down()
		require.ErrorIs(t, groups[0].Err(), ErrProtocol, "%d", i)
		require.ErrorContains(t, groups[0].Err(), "rank 1")
		<-groups[2].Down()
		require.ErrorContains(t, groups[2].Err(), "rank 1")
	}
}

// A file of a socket that a killed process has left is replaced; that of a process that lives is
// not.
func TestSocketsOfOthers(t *testing.T) {
	address := unixAddress(t)
	listener, err := net.Listen("unix", address[len("unix:"):])
	require.NoError(t, err)
	_, err = Open(t.Context(), config(address, 0, 2))
	require.ErrorContains(t, err, "in use")
	listener.(*net.UnixListener).SetUnlinkOnClose(false)
	require.NoError(t, listener.Close())
	openAll(t, place{address: address}, 2)
}

// The file of a socket is kept if this rank cannot find out whether a process listens on it.
func TestSocketsAreKept(t *testing.T) {
	address := unixAddress(t)
	listener, err := net.Listen("unix", address[len("unix:"):])
	require.NoError(t, err)
	defer listener.Close()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	_, err = listen(ctx, address)
	require.Error(t, err)
	connection, err := net.Dial("unix", address[len("unix:"):])
	require.NoError(t, err)
	require.NoError(t, connection.Close())
}

func FuzzFrames(f *testing.F) {
	for _, bytes := range hostile() {
		f.Add(bytes)
	}
	f.Add(frameJSON(failedFrame, failed{Rank: 1, Reason: "x"}))
	f.Add(frameJSON(helloFrame, hello{Protocol: "test 1", Rank: 1, Size: 2}))
	f.Fuzz(func(t *testing.T, sent []byte) {
		k, body, err := readFrame(bytes.NewReader(sent), 1<<10)
		if err == nil {
			require.Equal(t, sent[:headerBytes+len(body)], frame(k, body))
			require.LessOrEqual(t, len(body), 1<<10)
		}
		var h hello
		_ = readJSON(bytes.NewReader(sent), helloFrame, &h)
		var w welcome
		_ = readJSON(bytes.NewReader(sent), welcomeFrame, &w)
	})
}
