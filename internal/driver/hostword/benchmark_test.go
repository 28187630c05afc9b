package hostword_test

import (
	"testing"

	"github.com/gpuframe/gpuframe/internal/driver/hostword"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
)

// BenchmarkTake takes and releases a word.
func BenchmarkTake(b *testing.B) {
	dev := devicetest.Open(b, "host")
	b.ReportAllocs()
	for b.Loop() {
		word, err := hostword.Take(dev, 7)
		if err != nil {
			b.Fatal(err)
		}
		word.Release()
	}
}
