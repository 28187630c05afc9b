package main

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRandomSequence compares with the numbers of a C++ program with the same rules,
// with std::default_random_engine and std::uniform_int_distribution, built with g++ 12.
func TestRandomSequence(t *testing.T) {
	for _, test := range []struct {
		count   int
		largest uint64 // MiB
		peak    uint64
		live    int
		digest  uint64
	}{
		{1000, 1, 323760572, 638, 0x324bdd38683579c3},
		{100000, 1, 16777215997, 36071, 0x27926b76abb6863d},
		{1000, 64, 16777102043, 528, 0xb5e35475c524510f},
		{100000, 64, 16777214347, 644, 0x746c8ea9898b94b9},
		{1000, 1024, 16775773201, 44, 0x9d8596f67e902385},
		{100000, 1024, 16777213763, 53, 0x2bd1da9f171dcb73},
		{1000, 4096, 16775344215, 15, 0x46b936e2c42dd401},
		{100000, 4096, 16777201659, 19, 0x8d16c4bf73dbddd1},
	} {
		t.Run(fmt.Sprintf("%d of %d MiB", test.count, test.largest), func(t *testing.T) {
			s := randomSequence(test.count, test.largest<<20, 16000<<20)
			assert.Equal(t, test.peak, s.peak)
			assert.Equal(t, test.live, s.slotCount)
			live := make([]uint64, s.slotCount)
			digest := uint64(14695981039346656037 / 10)
			for i, bytes := range s.bytes {
				slot := s.slots[i]
				if (bytes > 0) != (live[slot] == 0) {
					require.Fail(t, "the slot is taken, or there is nothing to free", "request %d, slot %d", i, slot)
				}
				if bytes > 0 {
					live[slot] = bytes
					digest = (digest ^ bytes) * 1099511628211
					continue
				}
				digest = (digest ^ ^live[slot]) * 1099511628211
				live[slot] = 0
			}
			assert.Equal(t, test.digest, digest)
			assert.Len(t, s.bytes, 2*test.count)
			assert.Zero(t, s.inUse, "everything is freed")
		})
	}
}
