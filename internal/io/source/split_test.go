package source_test

import (
	"context"
	"errors"
	"io"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// counted counts the records that are read.
type counted struct {
	array.RecordReader
	mu   sync.Mutex
	read int
}

func (c *counted) Next() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.read++
	return c.RecordReader.Next()
}

func (c *counted) records() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.read
}

// splitOf divides batches of one record of 10 rows among parts on the host.
func splitOf(t *testing.T, records, parts int, request source.Request) (*counted, []source.Part) {
	list := make([]arrow.Record, records)
	for i := range list {
		list[i] = numbered(int64(10*i), 10)
		defer list[i].Release()
	}
	reader, err := array.NewRecordReader(list[0].Schema(), list)
	require.NoError(t, err)
	from := &counted{RecordReader: reader}
	s, err := source.RecordReader(from)
	require.NoError(t, err)
	var managers []*memory.Manager
	for _, dev := range devicetest.Hosts(t, parts) {
		managers = append(managers, devicetest.Manager(t, dev, memory.Options{}))
	}
	request.BatchRows = 10
	split, err := source.Split(t.Context(), s, managers, request, nil)
	require.NoError(t, err)
	return from, split
}

// rest reads a part to its end and returns the numbers of its batches.
func rest(t *testing.T, p source.Part) (numbers []int64) {
	for {
		table, err := p.Next(t.Context())
		if errors.Is(err, io.EOF) {
			return numbers
		}
		if !assert.NoError(t, err) {
			return nil
		}
		number, first := p.Batch()
		assert.Equal(t, 10*number, first)
		numbers = append(numbers, number)
		assert.NoError(t, table.Release())
	}
}

// A part that is read faster than the others waits for them, with two batches for each.
func TestAFastPartWaits(t *testing.T) {
	const records, parts = 30, 3
	waits := make(chan int, records)
	from, split := splitOf(t, records, parts, source.Request{
		Behind: func(ctx context.Context, reader, slow int, taken <-chan struct{}) (bool, error) {
			if reader == 0 {
				waits <- slow
			}
			select {
			case <-taken:
				return false, nil
			case <-ctx.Done():
				return false, ctx.Err()
			}
		},
	})
	got := make([][]int64, parts)
	var all sync.WaitGroup
	all.Go(func() { got[0] = rest(t, split[0]) })
	require.Equal(t, 1, <-waits)
	require.Equal(t, 2*parts+1, from.records(), "two batches for each part, and the third of the fast one")
	for i := 1; i < parts; i++ {
		all.Go(func() { got[i] = rest(t, split[i]) })
	}
	all.Wait()
	for i, numbers := range got {
		var want []int64
		for n := i; n < records; n += parts {
			want = append(want, int64(n))
		}
		require.Equal(t, want, numbers, "part %d", i)
	}
	for _, p := range split {
		require.NoError(t, p.Close())
	}
}

// A part does not wait for one that does not read any more, or that is closed. Its context ends the
// wait, and an error of the wait is the part's.
func TestAFastPartGoesOn(t *testing.T) {
	for name, behind := range map[string]func(split []source.Part) (bool, error){
		"not read": func([]source.Part) (bool, error) { return true, nil },
		"closed":   func(split []source.Part) (bool, error) { return false, split[1].Close() },
		"error":    func([]source.Part) (bool, error) { return false, errBehind },
	} {
		t.Run(name, func(t *testing.T) {
			var split []source.Part
			calls := 0
			_, split = splitOf(t, 12, 2, source.Request{Behind: func(context.Context, int, int, <-chan struct{}) (bool, error) {
				calls++
				return behind(split)
			}})
			if name == "error" {
				var err error
				for err == nil {
					table, failure := split[0].Next(t.Context())
					if err = failure; err == nil {
						require.NoError(t, table.Release())
					}
				}
				require.ErrorIs(t, err, errBehind)
			} else {
				require.Equal(t, []int64{0, 2, 4, 6, 8, 10}, rest(t, split[0]))
			}
			require.NotZero(t, calls)
			for _, p := range split {
				require.NoError(t, p.Close())
			}
		})
	}
}

// A part that waited for another one takes the batch that the other one read for it meanwhile, also
// if that was the last one.
func TestABatchThatCameMeanwhile(t *testing.T) {
	var split []source.Part
	var others []int64
	_, split = splitOf(t, 7, 2, source.Request{Behind: func(_ context.Context, reader, _ int, _ <-chan struct{}) (bool, error) {
		if reader == 0 && others == nil {
			others = rest(t, split[1])
		}
		return true, nil
	}})
	require.Equal(t, []int64{0, 2, 4, 6}, rest(t, split[0]))
	require.Equal(t, []int64{1, 3, 5}, others)
	for _, p := range split {
		require.NoError(t, p.Close())
	}
}

var errBehind = errors.New("behind")
