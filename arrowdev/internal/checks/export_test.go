package checks

import (
	"errors"
	"strings"
	"unsafe"

	"github.com/gpuframe/gpuframe/internal/base/address"
	"github.com/gpuframe/gpuframe/internal/testing/launchtest"
)

// Modules returns the code of each module by its name.
func Modules() map[string]string {
	modules := map[string]string{}
	text, err := set.Text("checks")
	for _, part := range strings.Split(text, ".entry check_")[1:] {
		name, _, _ := strings.Cut(part, "(")
		code, readErr := set.Entry("checks", "check_"+name)
		err = errors.Join(err, readErr)
		modules[name] = code
	}
	if err != nil {
		panic(err)
	}
	return modules
}

// Kernels replaces the kernels of the modules on a device that imitates a GPU. They run
// the host's checks with the arguments that reach the driver, so that a wrong argument
// shows.
func Kernels() map[string]launchtest.Kernel {
	kernels := map[string]launchtest.Kernel{}
	add := func(name string, parameters int, run func(a arguments) outcome) {
		widths := make([]int, parameters)
		for i := range widths {
			widths[i] = 8
		}
		kernels[name] = launchtest.Kernel{Parameters: widths, Run: func(l launchtest.Launch) {
			a := arguments{l}
			found := run(a)
			result := (*outcome)(unsafe.Pointer(unsafe.SliceData(a.bytes(parameters-1, unsafe.Sizeof(outcome{})))))
			if *result != noOutcome {
				panic("the result is not as a kernel expects it")
			}
			*result = found
		}}
	}
	for width, name := range map[int]string{4: "check_ascending_32", 8: "check_ascending_64"} {
		next := 2 // parameter
		if width == 4 {
			next = 3
		}
		add(name, next+3, func(a arguments) outcome {
			c := ascending{n: a.int(1), width: width, strict: a.Uint64(next) != 0, limit: int64(a.Uint64(next + 1))}
			if width == 4 {
				c.width = a.int(2)
			}
			return c.onHost([][]byte{a.bytes(0, uintptr(c.n*c.width))})
		})
	}
	add("check_list_views", 6, func(a arguments) outcome {
		c := listViews{n: a.int(2), width: a.int(3), limit: int64(a.Uint64(4))}
		return c.onHost([][]byte{a.bytes(0, uintptr(c.n*c.width)), a.bytes(1, uintptr(c.n*c.width))})
	})
	add("check_indices", 7, func(a arguments) outcome {
		// The limit is for unsigned indices, so that −1 is above it.
		c := indices{n: a.int(1), offset: a.int(4), integer: Integer{Width: a.int(2)}, limit: int64(min(a.Uint64(5), 1<<63-1))}
		return c.onHost([][]byte{a.bytes(0, uintptr(c.n*c.integer.Width)), a.bits(3, c.offset+c.n)})
	})
	add("check_binary_views", 7, func(a arguments) outcome {
		c := binaryViews{n: a.int(1), offset: a.int(3), lengths: a.int64s(4, a.int(5))}
		return c.onHost([][]byte{a.bytes(0, uintptr(c.n*viewBytes)), a.bits(2, c.offset+c.n)})
	})
	add("check_type_ids", 5, func(a arguments) outcome {
		c := typeIDs{n: a.int(1), allowed: TypeIDs{a.Uint64(2), a.Uint64(3)}}
		return c.onHost([][]byte{a.bytes(0, uintptr(c.n))})
	})
	add("check_dense_offsets", 5, func(a arguments) outcome {
		c := denseOffsets{n: a.int(2)}
		for id := range c.lengths {
			c.lengths[id] = int64(load[uint32](a.bytes(3, 4*mostTypeIDs), id))
		}
		return c.onHost([][]byte{a.bytes(0, uintptr(c.n)), a.bytes(1, uintptr(4*c.n))})
	})
	add("check_valid", 4, func(a arguments) outcome {
		c := validBits{offset: a.int(1), n: a.int(2)}
		return c.onHost([][]byte{a.bits(0, c.offset+c.n)})
	})
	return kernels
}

// arguments are those of a launch.
type arguments struct{ launchtest.Launch }

func (a arguments) int(i int) int { return int(a.Uint64(i)) }

func (a arguments) bytes(i int, n uintptr) []byte {
	if a.Uint64(i) == 0 {
		return nil
	}
	return address.Bytes(uintptr(a.Uint64(i)), uint64(n))
}

func (a arguments) bits(i, n int) []byte { return a.bytes(i, uintptr(n+7)/8) }

func (a arguments) int64s(i, n int) []int64 {
	values := make([]int64, n)
	for j := range values {
		values[j] = load[int64](a.bytes(i, uintptr(8*n)), j)
	}
	return values
}
