package group

import (
	"errors"

	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/memory"
)

// checkExact returns ErrInexact if merged sums of floats were those of windows that differ too much:
// a bin was dropped to which others have carried. It waits for a GPU.
func (r *aggregation) checkExact() error {
	var floats []int
	for i, a := range r.plan.accumulators {
		if a.merges && a.kind == sumFloats && a.term == linear {
			floats = append(floats, i)
		}
	}
	if len(floats) == 0 || r.states.capacity == 0 {
		return nil
	}
	inexact := r.isInexact
	if r.call.OnHost() {
		inexact = r.isInexactOnHost
	}
	dropped, err := inexact(floats)
	if err == nil && dropped {
		err = ErrInexact
	}
	return err
}

// stateStride is the number of words between the states of two groups.
func (r *aggregation) stateStride(accumulator int) int {
	if r.states.stride > 0 {
		return r.states.stride
	}
	return r.plan.accumulators[accumulator].words()
}

func (r *aggregation) isInexact(floats []int) (bool, error) {
	block, slices, err := r.call.Scratch(4)
	if err != nil {
		return false, err
	}
	var flag [1]uint32
	err = slices[0].Fill(r.call.Stream, 0)
	for _, i := range floats {
		if err == nil {
			err = launchRows(&r.call, "inexact", "find_inexact", r.states.capacity, slices[0], r.states.lists[i], uint64(r.stateStride(i)), r.groups.keys.DeviceRows(), int64(r.states.capacity))
		}
	}
	var words memory.Slice[uint32]
	if err == nil {
		words, err = memory.Reinterpret[uint32](slices[0])
	}
	if err == nil {
		err = words.Download(r.call.Context(), r.call.Stream, flag[:])
	}
	return flag[0] != 0, errors.Join(err, block.Release())
}

func (r *aggregation) isInexactOnHost(floats []int) (bool, error) {
	groups := r.states.capacity
	if n, known := r.groups.keys.HostRows(); known {
		groups = int(n)
	}
	for _, i := range floats {
		bytes, err := r.states.lists[i].Host()
		if err != nil {
			return false, err
		}
		words, stride := op.Elements[uint64](bytes), r.stateStride(i)
		for group := range groups {
			if words[group*stride+sumFlags]&flagInexact != 0 {
				return true, nil
			}
		}
	}
	return false, nil
}
