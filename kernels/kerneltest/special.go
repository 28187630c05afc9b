package kerneltest

import (
	"math/bits"
	"time"
)

// specialRegister returns the row that holds a special register. Only mov reads the
// registers that change while the kernel runs; see dynamicRegister.
func (in *ins) specialRegister(name string, t typ) (source, bool) {
	value, width := fixedRegister(name)
	if value == nil {
		return source{}, false
	}
	// For compatibility, 32-bit special registers may be read as 16 bits.
	if t.bits != width && !(width == 32 && t.bits == 16) {
		in.fail("%s has %d bits", name, width)
	}
	return in.c.specialSource(name, value), true
}

func fixedRegister(name string) (value func(w *warp, lane int) uint64, width int) {
	axis := 0
	if n := len(name); n > 2 && name[n-2] == '.' {
		switch name[n-1] {
		case 'x', 'y', 'z':
			axis = int(name[n-1] - 'x')
		default:
			return nil, 0
		}
		name = name[:n-2]
		switch name {
		case "%tid":
			return func(w *warp, lane int) uint64 { return uint64(w.thread(lane)[axis]) }, 32
		case "%ntid":
			return func(w *warp, _ int) uint64 { return uint64(w.block.launch.block[axis]) }, 32
		case "%ctaid":
			return func(w *warp, _ int) uint64 { return uint64(w.block.id[axis]) }, 32
		case "%nctaid":
			return func(w *warp, _ int) uint64 { return uint64(w.block.launch.grid[axis]) }, 32
		}
		return nil, 0
	}
	switch name {
	case "WARP_SZ":
		return func(*warp, int) uint64 { return lanes }, 32
	case "%laneid":
		return func(_ *warp, lane int) uint64 { return uint64(lane) }, 32
	case "%warpid":
		return func(w *warp, _ int) uint64 { return uint64(w.number) }, 32
	case "%nwarpid":
		return func(*warp, int) uint64 { return 64 }, 32
	case "%smid":
		return func(w *warp, _ int) uint64 { return uint64(w.block.processor) }, 32
	case "%nsmid":
		return func(w *warp, _ int) uint64 { return uint64(w.block.launch.processors) }, 32
	case "%lanemask_eq":
		return func(_ *warp, lane int) uint64 { return 1 << lane }, 32
	case "%lanemask_le":
		return func(_ *warp, lane int) uint64 { return 2<<lane - 1 }, 32
	case "%lanemask_lt":
		return func(_ *warp, lane int) uint64 { return 1<<lane - 1 }, 32
	case "%lanemask_ge":
		return func(_ *warp, lane int) uint64 { return uint64(uint32(everyLane << lane)) }, 32
	case "%lanemask_gt":
		return func(_ *warp, lane int) uint64 { return uint64(uint32(everyLane << lane << 1)) }, 32
	case "%dynamic_smem_size":
		return func(w *warp, _ int) uint64 { return uint64(w.block.launch.dynamicShared) }, 32
	case "%total_smem_size":
		return func(w *warp, _ int) uint64 { return uint64(len(w.block.shared)) }, 32
	}
	return nil, 0
}

// dynamicRegister returns a special register that changes while the kernel runs.
func dynamicRegister(name string) (value func(w *warp) uint64, width int) {
	switch name {
	case "%clock":
		return func(w *warp) uint64 { return uint64(uint32(w.block.launch.steps)) }, 32
	case "%clock_hi":
		return func(w *warp) uint64 { return w.block.launch.steps >> 32 }, 32
	case "%clock64":
		return func(w *warp) uint64 { return w.block.launch.steps }, 64
	case "%globaltimer":
		return func(*warp) uint64 { return uint64(time.Now().UnixNano()) }, 64
	}
	return nil, 0
}

// eachLane calls f for the lanes of a mask.
func eachLane(mask uint32, f func(lane int)) {
	for ; mask != 0; mask &= mask - 1 {
		f(bits.TrailingZeros32(mask))
	}
}
