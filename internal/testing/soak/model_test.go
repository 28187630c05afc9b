package soak_test

import (
	"unsafe"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/address"
	"github.com/gpuframe/gpuframe/internal/testing/launchtest"
)

// newModel returns a device with Go functions as the kernels of soak.cu.
func newModel() *launchtest.GPU {
	parameters := []int{8, 8, 8, 8, 8, 8, 8, 8, 128, 4, 8}
	return &launchtest.GPU{Kernels: map[string]launchtest.Kernel{
		"soak_write":  {Parameters: parameters, MaxThreads: 256, Run: modelWrite},
		"soak_verify": {Parameters: append(parameters, 8, 8), MaxThreads: 256, Run: modelVerify},
	}}
}

// The kernels' parameters. The first eight are addresses.
const (
	batchParameter = 8 + iota
	shareParameter
	delayParameter
	findingsParameter
	streamParameter
)

func modelWrite(l launchtest.Launch) {
	eachWord(l, func(memory []uint64, seed, i uint64) { memory[i] = seed + i })
}

func modelVerify(l launchtest.Launch) {
	const records, recordWords = 64, 6
	findings := words(l.Uint64(findingsParameter), 4+records*recordWords)
	checked, mismatches, recorded := &findings[0], &findings[1], &findings[2]
	eachWord(l, func(memory []uint64, seed, i uint64) {
		*checked++
		if memory[i] == seed+i {
			return
		}
		*mismatches++
		if *recorded < records {
			at := uint64(uintptr(unsafe.Pointer(unsafe.SliceData(memory))))
			copy(findings[4+recordWords**recorded:], []uint64{at, uint64(len(memory)), seed, i, memory[i], l.Uint64(streamParameter)})
		}
		*recorded++
	})
}

// eachWord calls f for every word that a launch visits, thread by thread.
func eachWord(l launchtest.Launch, f func(memory []uint64, seed, i uint64)) {
	batch := l.Slots[l.Starts[batchParameter]:]
	share, threads := uint64(uint32(l.Uint64(shareParameter))), uint64(l.Config.Block.X)
	for block := range uint64(l.Config.Grid.X) {
		which := block / share
		memory, seed := words(l.Uint64(int(which)), batch[which]), batch[8+which]
		for thread := range threads {
			for k := block%share*threads + thread; k < min(batch[which], 8192); k += share * threads {
				f(memory, seed, place(k, batch[which]))
			}
		}
	}
}

// place returns the position of the k-th visited word in a block of the given number of
// words.
func place(k, words uint64) uint64 {
	const most, edge = 8192, 2048
	switch {
	case words <= most || k < edge:
		return k
	case k < 2*edge:
		return words - 2*edge + k
	}
	return edge + (k-2*edge)*((words-2*edge)/(most-2*edge))
}

func words(at, count uint64) []uint64 {
	return unsafe.Slice((*uint64)(address.Pointer(device.Pointer(at))), count)
}
