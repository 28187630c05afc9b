package hostword_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/driver/hostword"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
)

// TestDeviceWrites has the device write words while other goroutines take and release
// theirs.
func TestDeviceWrites(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		var users sync.WaitGroup
		for user := range 8 {
			users.Go(func() {
				for range 50 {
					word, err := hostword.Take(dev, uint64(user))
					if err != nil {
						t.Error(err)
						return
					}
					if got := word.Value(); got != uint64(user) {
						t.Errorf("a word of user %d holds %d", user, got)
					}
					stream := dev.DefaultStream()
					err = stream.Enqueue(func(handle backend.Stream) error {
						return dev.Driver().MemsetAsync(word.Pointer(), uint32(user), 1, 8, handle)
					})
					if err == nil {
						err = stream.Synchronize(t.Context())
					}
					if err != nil {
						t.Error(err)
						return
					}
					if got, want := word.Value(), uint64(user)*0x0101010101010101; got != want {
						t.Errorf("the device wrote %#x instead of %#x", got, want)
					}
					word.Release()
				}
			})
		}
		users.Wait()
	})
}

func Example() {
	dev, err := device.Open("host")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer dev.Close()
	word, err := hostword.Take(dev, 7)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer word.Release()
	fmt.Println(word.Value(), word.Pointer()%8)
	// Output: 7 0x0
}

func TestManyWords(t *testing.T) {
	dev := devicetest.Open(t, "host")
	taken := map[device.Pointer]bool{}
	for i := range 200 {
		word, err := hostword.Take(dev, uint64(i))
		require.NoError(t, err)
		require.False(t, taken[word.Pointer()], "one word was given out twice")
		taken[word.Pointer()] = true
		defer word.Release()
	}
	_, err := hostword.Take(nil, 0)
	require.ErrorIs(t, err, device.ErrInvalidValue)
}
