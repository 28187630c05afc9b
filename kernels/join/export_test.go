package join

import "testing"

// CollideAll gives all keys one hash until the end of the test.
func CollideAll(t *testing.T) {
	seeds := hashSeeds
	hashSeeds = func() (seed, factor uint64) { return 0, 0 }
	t.Cleanup(func() { hashSeeds = seeds })
}
