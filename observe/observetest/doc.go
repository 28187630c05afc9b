// Package observetest finds memory that a test has not released.
//
//	func TestQuery(t *testing.T) {
//		mgr, err := memory.NewManager(dev, memory.Options{})
//		…
//		t.Cleanup(func() { mgr.Close() })
//		observetest.NoLeaks(t, mgr)
//
// At the end of the test, NoLeaks fails it for each block that is still held, or that was
// collected without being released, and names the tag and the stack of its allocation.
package observetest
