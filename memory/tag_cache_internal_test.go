package memory

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
)

// A goroutine that locks all stripes sees all credit, including credit that is being
// lent.
func TestTagCacheWhileLending(t *testing.T) {
	host, err := device.Open("host")
	require.NoError(t, err)
	defer func() { require.NoError(t, host.Close()) }()
	m, err := NewManager(host, Options{Budget: 100})
	require.NoError(t, err)
	all, leaf := &m.tree.stripes, m.tags.find("tag")
	done := make(chan struct{})
	var borrower sync.WaitGroup
	borrower.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				all.lend(leaf, 100)
			}
		}
	})
	for range 5_000 {
		stripe := all.enter()
		if assert.Nil(t, m.account.reserve(60, false).account, "it all is free") {
			leaf.raiseTo(leaf.add(nil, 60))
			stripe.deposit(leaf, 60)
		}
		stripe.mu.Unlock()
		all.lockAll()
		left := m.account.reserved.Load()
		all.unlockAll()
		if !assert.Zero(t, left, "credit that nobody has") {
			break
		}
	}
	close(done)
	borrower.Wait()
	require.NoError(t, m.Close())
}
