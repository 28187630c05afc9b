package buckets_test

import (
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/buckets"
)

func newPool[T memory.Element](t testing.TB, mgr *memory.Manager, options buckets.SlicesOptions) *buckets.Slices[T] {
	t.Helper()
	pool, err := buckets.NewSlices[T](mgr, options)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, pool.Close()) })
	return pool
}

func take[T memory.Element](t testing.TB, pool *buckets.Slices[T], n int, options memory.AllocateOptions) memory.Slice[T] {
	t.Helper()
	slice, err := pool.Take(n, options)
	require.NoError(t, err)
	require.Equal(t, n, slice.Len())
	return slice
}

func TestSlicesByLength(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		pool := newPool[float64](t, mgr, buckets.SlicesOptions{})
		for _, test := range []struct{ n, room int }{{1, 256}, {256, 256}, {257, 512}, {1000, 1024}, {1024, 1024}} {
			slice := take(t, pool, test.n, memory.AllocateOptions{})
			assert.EqualValues(t, test.room*8, slice.Block().Bytes(), "%d", test.n)
			assert.EqualValues(t, test.n*8, slice.Bytes())
			require.NoError(t, slice.Fill(nil, 1.5))
			require.NoError(t, pool.Put(slice))
		}
		stats := pool.Stats()
		assert.Equal(t, buckets.SlicesStats{
			Hits: 2, Misses: 3, Returns: 5, CachedBytes: 8 * (256 + 512 + 1024), CachedSlices: 3,
		}, stats)
		assert.Equal(t, stats.CachedBytes, mgr.Stats().InUse, "what is unused stays in the budget")

		// The slice that was put in last is taken first, and does not keep its previous
		// length.
		first, second := take(t, pool, 100, memory.AllocateOptions{}), take(t, pool, 200, memory.AllocateOptions{})
		at := second.Pointer()
		require.NoError(t, pool.Put(first))
		require.NoError(t, pool.Put(second))
		again := take(t, pool, 256, memory.AllocateOptions{})
		assert.Equal(t, at, again.Pointer())
		values := make([]float64, 256)
		require.NoError(t, again.Upload(t.Context(), nil, values))
		require.NoError(t, again.Release())

		empty := take(t, pool, 0, memory.AllocateOptions{})
		require.NoError(t, pool.Put(empty))
		require.NoError(t, pool.Put(memory.Slice[float64]{}))
		_, err := pool.Take(-1, memory.AllocateOptions{})
		require.ErrorIs(t, err, memory.ErrRange)
		_, err = pool.Take(math.MaxInt, memory.AllocateOptions{})
		require.ErrorIs(t, err, memory.ErrOverflow)
		require.NoError(t, pool.Empty())
		assert.Zero(t, mgr.Stats().InUse)
		assert.Zero(t, pool.Stats().CachedBytes)
	})
}

func TestSlicesOfTags(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		pool := newPool[int32](t, mgr, buckets.SlicesOptions{Multiple: 10})
		keys := take(t, pool, 10, memory.AllocateOptions{Tag: "keys"})
		require.NoError(t, pool.Put(keys))
		values := take(t, pool, 10, memory.AllocateOptions{Tag: "values"})
		assert.Equal(t, "values", values.Block().Tag())
		assert.Zero(t, pool.Stats().Hits)
		require.NoError(t, pool.Put(values))
	})
}

func TestSlicesThatAreNotKept(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		other := devicetest.Manager(t, dev, memory.Options{})
		pool := newPool[uint8](t, mgr, buckets.SlicesOptions{CacheBytes: 1024})
		make := func(mgr *memory.Manager, n int) memory.Slice[uint8] {
			slice, err := memory.NewSlice[uint8](mgr, n, memory.AllocateOptions{})
			require.NoError(t, err)
			return slice
		}
		shared := make(mgr, 256)
		require.NoError(t, shared.Retain())
		require.NoError(t, pool.Put(shared))
		assert.Equal(t, 1, shared.Block().References(), "another holder keeps it")
		require.NoError(t, shared.Release())

		exported := make(mgr, 256)
		require.NoError(t, exported.Block().BeginExport())
		require.NoError(t, pool.Put(exported))
		require.NoError(t, exported.Block().EndExport())

		require.NoError(t, pool.Put(make(other, 256)))
		require.NoError(t, pool.Put(make(mgr, 255)))
		require.NoError(t, pool.Put(make(mgr, 1280)))

		source := make(mgr, 256)
		foreign, err := mgr.Adopt(memory.ForeignMemory{Pointer: source.Pointer(), Bytes: 256, Kind: source.Block().Kind(), Release: func() error { return nil }})
		require.NoError(t, err)
		adopted, err := memory.SliceOf[uint8](foreign, 256)
		require.NoError(t, err)
		require.NoError(t, pool.Put(adopted))
		assert.Zero(t, foreign.References())
		require.NoError(t, source.Release())

		stats := pool.Stats()
		assert.Equal(t, buckets.SlicesStats{Releases: 6}, stats)
		assert.Zero(t, mgr.Stats().InUse)
		assert.Zero(t, mgr.Stats().ExternalBlocks)

		// A view holds no reference that Put could take over.
		whole := make(mgr, 512)
		part, err := whole.Slice(100, 101)
		require.NoError(t, err)
		require.ErrorIs(t, pool.Put(part), memory.ErrView)
		assert.Equal(t, 1, whole.Block().References())
		require.NoError(t, pool.Put(whole))
		assert.EqualValues(t, 512, pool.Stats().CachedBytes)
	})
}

func TestSlicesPutTwice(t *testing.T) {
	dev := devicetest.Open(t, "host")
	mgr, err := memory.NewManager(dev, memory.Options{})
	require.NoError(t, err)
	pool := newPool[uint8](t, mgr, buckets.SlicesOptions{})
	slice := take(t, pool, 256, memory.AllocateOptions{})
	require.NoError(t, slice.Release())
	require.ErrorIs(t, pool.Put(slice), memory.ErrReleased)

	// The block was released while in the pool: Take does not return it.
	slice = take(t, pool, 256, memory.AllocateOptions{})
	require.NoError(t, pool.Put(slice))
	require.NoError(t, slice.Release())
	next := take(t, pool, 256, memory.AllocateOptions{})
	assert.Equal(t, 1, next.Block().References())
	assert.Zero(t, pool.Stats().CachedBytes)
	require.NoError(t, pool.Put(next))
	require.NoError(t, pool.Empty())
	var leak *memory.LeakError
	require.ErrorAs(t, mgr.Close(), &leak)
	assert.EqualValues(t, 1, leak.DoubleReleases)
}

func TestSlicesBound(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		pool := newPool[uint8](t, mgr, buckets.SlicesOptions{CacheBytes: 1000})
		var all []memory.Slice[uint8]
		for i := range 5 {
			all = append(all, take(t, pool, 256*(1+i%2), memory.AllocateOptions{}))
		}
		for _, slice := range all {
			require.NoError(t, pool.Put(slice))
			assert.LessOrEqual(t, pool.Stats().CachedBytes, uint64(1000))
		}
		assert.Zero(t, all[0].Block().References(), "the oldest went")
		assert.Equal(t, 1, all[4].Block().References())
		released, err := pool.Trim(300)
		require.NoError(t, err)
		assert.EqualValues(t, 512, released)
		assert.EqualValues(t, 256, mgr.Stats().InUse)
	})
}

// The pool forgets lengths that are no longer used, and keeps those that are.
func TestSlicesOfManyLengths(t *testing.T) {
	dev := devicetest.Open(t, "host")
	mgr := devicetest.Manager(t, dev, memory.Options{})
	streams := newStreams(t, dev, 2)
	pool := newPool[uint8](t, mgr, buckets.SlicesOptions{CacheBytes: 1 << 18})
	for length := 256; length < 1<<18; length += 256 {
		ofA := take(t, pool, length, memory.AllocateOptions{Stream: streams[0]})
		ofB := take(t, pool, length, memory.AllocateOptions{Stream: streams[1]})
		require.NoError(t, pool.Put(ofA))
		require.NoError(t, pool.Put(ofB))
		again := take(t, pool, length, memory.AllocateOptions{Stream: streams[1]})
		require.Equal(t, ofB.Block(), again.Block())
		require.NoError(t, pool.Put(again))
	}
	assert.EqualValues(t, 1<<10-1, pool.Stats().Hits)
	require.NoError(t, pool.Empty())
	assert.Zero(t, pool.Stats().CachedSlices)
}

func TestSlicesAreReclaimed(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{Budget: 4096})
		pool := newPool[uint8](t, mgr, buckets.SlicesOptions{CacheBytes: 4096})
		for _, n := range []int{1024, 2048} {
			require.NoError(t, pool.Put(take(t, pool, n, memory.AllocateOptions{})))
		}
		block, err := mgr.Allocate(2048, memory.AllocateOptions{})
		require.NoError(t, err, "the manager asks the pool")
		require.NoError(t, block.Release())
		slice := take(t, pool, 4096, memory.AllocateOptions{})
		require.NoError(t, pool.Put(slice))
		assert.LessOrEqual(t, mgr.Stats().InUse, uint64(4096))
	})
}

func TestSlicesOfStreams(t *testing.T) {
	dev, driver := openHolding(t)
	streams := newStreams(t, dev, 2)
	mgr := devicetest.Manager(t, dev, memory.Options{Stream: streams[0]})
	a, b := memory.AllocateOptions{Stream: streams[0]}, memory.AllocateOptions{Stream: streams[1]}
	for name, same := range map[string]bool{"any stream": false, "same stream": true} {
		t.Run(name, func(t *testing.T) {
			pool := newPool[int64](t, mgr, buckets.SlicesOptions{SameStream: same})
			ofA, ofB := take(t, pool, 256, a), take(t, pool, 256, b)
			require.NoError(t, pool.Put(ofB))
			require.NoError(t, pool.Put(ofA))
			got := take(t, pool, 256, b)
			assert.Equal(t, ofB.Pointer(), got.Pointer(), "the same stream's is preferred")
			require.NoError(t, ofA.Block().RecordUse(streams[0]))
			driver.hold(streams[0])
			records := driver.records.Load()
			next := take(t, pool, 256, b)
			if same {
				assert.NotEqual(t, ofA.Pointer(), next.Pointer())
				assert.Zero(t, pool.Stats().Crossings)
			} else {
				assert.Equal(t, ofA.Pointer(), next.Pointer())
				assert.EqualValues(t, 1, pool.Stats().Crossings)
				assert.Greater(t, driver.records.Load(), records, "the stream waits on the device for the last use")
			}
			assert.Zero(t, driver.waits.Load(), "the caller does not wait")
			driver.letGo(streams[0])
			require.NoError(t, pool.Put(next))
			require.NoError(t, pool.Put(got))
		})
	}
}

// On every device, stream b's writes to a slice last used on a come after a's writes.
func TestSlicesAreOrdered(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		streams := newStreams(t, dev, 2)
		mgr := devicetest.Manager(t, dev, memory.Options{})
		pool := newPool[uint32](t, mgr, buckets.SlicesOptions{})
		const n = 4 << 20
		for round := range uint32(10) {
			slice := take(t, pool, n, memory.AllocateOptions{Stream: streams[0]})
			for range 20 {
				require.NoError(t, slice.Fill(streams[0], 1000+round))
			}
			require.NoError(t, pool.Put(slice))
			slice = take(t, pool, n, memory.AllocateOptions{Stream: streams[1]})
			require.NoError(t, slice.Fill(streams[1], round))
			got := make([]uint32, n)
			require.NoError(t, slice.Download(t.Context(), streams[1], got))
			for i, value := range got {
				if value != round {
					require.Equal(t, round, value, "element %d", i)
				}
			}
			require.NoError(t, pool.Put(slice))
		}
		assert.EqualValues(t, 1, pool.Stats().Misses)
	})
}

func TestSlicesClosed(t *testing.T) {
	dev := devicetest.Open(t, "host")
	mgr := devicetest.Manager(t, dev, memory.Options{})
	pool, err := buckets.NewSlices[int16](mgr, buckets.SlicesOptions{})
	require.NoError(t, err)
	held, unused := take(t, pool, 300, memory.AllocateOptions{}), take(t, pool, 300, memory.AllocateOptions{})
	require.NoError(t, pool.Put(unused))
	require.NoError(t, pool.Close())
	require.ErrorIs(t, pool.Close(), memory.ErrClosed)
	_, err = pool.Take(1, memory.AllocateOptions{})
	require.ErrorIs(t, err, memory.ErrClosed)
	require.NoError(t, pool.Put(held))
	assert.Zero(t, mgr.Stats().InUse)
	_, err = buckets.NewSlices[int16](nil, buckets.SlicesOptions{})
	require.ErrorIs(t, err, device.ErrInvalidValue)
	_, err = buckets.NewSlices[int16](mgr, buckets.SlicesOptions{Multiple: -1})
	require.ErrorIs(t, err, device.ErrInvalidValue)
}

func TestSlicesAtTheSameTime(t *testing.T) {
	dev := devicetest.Open(t, "host")
	mgr := devicetest.Manager(t, dev, memory.Options{})
	const goroutines, bound = 32, 64 << 10
	pool := newPool[uint16](t, mgr, buckets.SlicesOptions{CacheBytes: bound})
	streams := newStreams(t, dev, 4)
	var group sync.WaitGroup
	for id := range goroutines {
		group.Go(func() {
			random := rand.New(rand.NewPCG(2, uint64(id)))
			for range 200 {
				n := 1 + random.IntN(2000)
				slice, err := pool.Take(n, memory.AllocateOptions{Stream: streams[id%len(streams)]})
				if !assert.NoError(t, err) {
					return
				}
				values, err := slice.Host()
				assert.NoError(t, err)
				for i := range values {
					values[i] = uint16(id)
				}
				for _, value := range values {
					if value != uint16(id) {
						assert.Equal(t, uint16(id), value, "two holders of the same slice")
						break
					}
				}
				assert.NoError(t, pool.Put(slice))
				assert.LessOrEqual(t, pool.Stats().CachedBytes, uint64(bound))
			}
		})
	}
	group.Wait()
	stats := pool.Stats()
	assert.EqualValues(t, goroutines*200, stats.Hits+stats.Misses)
	assert.Equal(t, stats.CachedBytes, mgr.Stats().InUse)
}

func TestSlicesAreTheirModel(t *testing.T) {
	dev := devicetest.Open(t, "host")
	streams := newStreams(t, dev, 3)
	property.Check(t, func(t *rapid.T) {
		mgr, err := memory.NewManager(dev, memory.Options{})
		require.NoError(t, err)
		bound := rapid.Uint64Range(1, 1<<15).Draw(t, "bound")
		pool, err := buckets.NewSlices[uint32](mgr, buckets.SlicesOptions{CacheBytes: bound, Multiple: 64})
		require.NoError(t, err)
		type key struct{ length, stream int }
		// unused holds the pointers by length and stream, the oldest first. ages holds
		// the keys in the order of their return.
		type entry struct {
			key
			at device.Pointer
		}
		var unused []entry
		var cached, hits, misses, returns, releases uint64
		var live []memory.Slice[uint32]
		stream := func(slice memory.Slice[uint32]) int {
			for i, s := range streams {
				if s.Equal(slice.Block().Stream()) {
					return i
				}
			}
			return -1
		}
		pick := func(k key) int {
			for i := len(unused) - 1; i >= 0; i-- {
				if unused[i].key == k {
					return i
				}
			}
			for i, e := range unused {
				if e.length == k.length {
					return i
				}
			}
			return -1
		}
		t.Repeat(map[string]func(*rapid.T){
			"take": func(t *rapid.T) {
				n := rapid.IntRange(1, 1000).Draw(t, "n")
				k := key{(n + 63) / 64 * 64, rapid.IntRange(0, 2).Draw(t, "stream")}
				want := pick(k)
				slice, err := pool.Take(n, memory.AllocateOptions{Stream: streams[k.stream]})
				require.NoError(t, err)
				require.Equal(t, n, slice.Len())
				if want < 0 {
					misses++
				} else {
					hits++
					require.Equal(t, unused[want].at, slice.Pointer())
					cached -= uint64(k.length) * 4
					unused = append(unused[:want:want], unused[want+1:]...)
				}
				live = append(live, slice)
			},
			"put": func(t *rapid.T) {
				if len(live) == 0 {
					return
				}
				i := rapid.IntRange(0, len(live)-1).Draw(t, "which")
				slice := live[i]
				live = append(live[:i:i], live[i+1:]...)
				bytes := slice.Block().Bytes()
				e := entry{key{int(bytes / 4), stream(slice)}, slice.Pointer()}
				require.NoError(t, pool.Put(slice))
				if bytes > bound {
					releases++
					return
				}
				for cached+bytes > bound {
					cached -= uint64(unused[0].length) * 4
					unused = unused[1:]
					releases++
				}
				returns++
				cached += bytes
				unused = append(unused, e)
			},
			"": func(t *rapid.T) {
				stats := pool.Stats()
				require.Equal(t, buckets.SlicesStats{
					Hits: hits, Misses: misses, Crossings: stats.Crossings, Returns: returns, Releases: releases,
					CachedBytes: cached, CachedSlices: uint64(len(unused)),
				}, stats)
				total := cached
				for _, slice := range live {
					total += slice.Block().Bytes()
				}
				require.Equal(t, total, mgr.Stats().InUse)
			},
		})
		for _, slice := range live {
			require.NoError(t, pool.Put(slice))
		}
		require.NoError(t, pool.Close())
		require.NoError(t, mgr.Close())
	})
}
