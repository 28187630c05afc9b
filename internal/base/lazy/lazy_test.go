package lazy_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gpuframe/gpuframe/internal/base/lazy"
)

func TestAValueIsMadeOnce(t *testing.T) {
	calls := 0
	value := lazy.Value[int]{Make: func() int { calls++; return calls }}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() { assert.Equal(t, 1, value.Get()) })
	}
	group.Wait()
	assert.Equal(t, 1, calls)
}
