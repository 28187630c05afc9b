package backendtest

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device/backend"
)

// cases are the subtests that share one device.
var cases = []struct {
	name string
	run  func(t *testing.T, d backend.Device)
}{
	{"Info", testInfo},
	{"MemoryInfo", testMemoryInfo},
	{"Attribute", testAttribute},
	{"Alloc", testAlloc},
	{"AllocTooMuch", testAllocTooMuch},
	{"FreeTwice", testFreeTwice},
	{"AllocAsync", testAllocAsync},
	{"AddressRange", testAddressRange},
	{"PointerInfo", testPointerInfo},
	{"HostAlloc", testHostAlloc},
	{"HostRegister", testHostRegister},
	{"Copy", testCopy},
	{"CopyAsync", testCopyAsync},
	{"CopyNothing", testCopyNothing},
	{"Memset", testMemset},
	{"MemsetAsync", testMemsetAsync},
	{"MemsetBadWidth", testMemsetBadWidth},
	{"StreamOrder", testStreamOrder},
	{"DefaultStream", testDefaultStream},
	{"StreamQuery", testStreamQuery},
	{"StreamDestroy", testStreamDestroy},
	{"Synchronize", testSynchronize},
	{"EventJoinsStreams", testEventJoinsStreams},
	{"EventRecordedAnew", testEventRecordedAnew},
	{"EventNeverRecorded", testEventNeverRecorded},
	{"EventElapsed", testEventElapsed},
	{"EventDestroy", testEventDestroy},
	{"EventRecordAll", testEventRecordAll},
	{"EventRecordAllAnew", testEventRecordAllAnew},
	{"StreamIdentity", testStreamIdentity},
	{"StreamCapturing", testStreamCapturing},
	{"PoolUse", testPoolUse},
	{"PoolMaximum", testPoolMaximum},
	{"PoolReuse", testPoolReuse},
	{"PoolAttributes", testPoolAttributes},
	{"PoolDestroy", testPoolDestroy},
	{"VirtualMoves", testVirtualMoves},
	{"VirtualLifetime", testVirtualLifetime},
	{"VirtualMisuse", testVirtualMisuse},
	{"VirtualConcurrency", testVirtualConcurrency},
	{"Shared", testShared},
	{"SharedOutlives", testSharedOutlives},
	{"SharedReadOnly", testSharedReadOnly},
	{"SharedMisuse", testSharedMisuse},
	{"Managed", testManaged},
	{"Prefetch", testPrefetch},
	{"Modules", testModules},
	{"Graphs", testGraphs},
	{"Peers", testPeers},
	{"Concurrency", testConcurrency},
}

// Run checks a backend. Every call of open opens the same device again; the suite
// closes the devices that it opens.
func Run(t *testing.T, open func(testing.TB) backend.Device) {
	t.Helper()
	d := open(t)
	defer func() { require.NoError(t, d.Close()) }()

	before := defaultPoolUse(t, d)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { c.run(t, d) })
	}
	t.Run("OpenTwice", func(t *testing.T) { testOpenTwice(t, d, open) })
	t.Run("Close", func(t *testing.T) { testClose(t, open(t)) })
	t.Run("NothingLeft", func(t *testing.T) {
		require.NoError(t, d.Synchronize())
		require.Equal(t, before, defaultPoolUse(t, d), "bytes in use in the default pool")
	})
}

// defaultPoolUse is zero for a device without pools.
func defaultPoolUse(t *testing.T, d backend.Device) uint64 {
	used, err := d.PoolAttribute(0, backend.PoolUsedCurrent)
	if errors.Is(err, backend.ErrNotSupported) {
		return 0
	}
	require.NoError(t, err)
	return used
}
