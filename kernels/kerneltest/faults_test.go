package kerneltest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device/backend"
)

func TestFaults(t *testing.T) {
	for name, c := range map[string]struct {
		code, want string
		kind       error
	}{
		"after the end":    {"ld.global.u32 %r1, [%q1+64];", "0 bytes after the end of an allocation of 64 bytes", ErrAddress},
		"across the end":   {"ld.global.u64 %q2, [%q1+60];", "not aligned", ErrAlignment},
		"wide":             {"ld.global.v4.u32 {%r1,%r2,%r3,%r4}, [%q1+56];", "not aligned", ErrAlignment},
		"before":           {"st.global.u8 [%q1+-1], %h1;", "1 bytes before an allocation of 64 bytes", ErrAddress},
		"null":             {"mov.u64 %q1, 0; ld.global.u8 %h1, [%q1+8];", "null pointer", ErrAddress},
		"not aligned":      {"ld.global.u32 %r1, [%q1+2];", "not aligned to the 4 bytes", ErrAlignment},
		"shared":           {"mov.u32 %r1, 1024; ld.shared.u32 %r2, [%r1];", "1024 bytes of shared memory", ErrAddress},
		"trap":             {"trap;", "trap", ErrTrap},
		"generic":          {"cvta.shared.u64 %q2, 1024; ld.u32 %r1, [%q2];", "shared memory", ErrAddress},
		"before a window":  {"mov.u64 %q2, s; sub.s64 %q2, %q2, 8; cvta.shared.u64 %q2, %q2; ld.u32 %r1, [%q2+8];", "", ErrAddress},
		"atomic":           {"atom.global.add.u32 %r1, [%q1+64], 1;", "after the end", ErrAddress},
		"bar in a branch":  {"mov.u32 %r1, %laneid; setp.lt.u32 %p1, %r1, 7; @%p1 bra other; bar.sync 0; bra end; other: bar.sync 0; end:", "different bar.sync instructions", ErrSynchronization},
		"vote that hangs":  {"mov.u32 %r1, %laneid; setp.lt.u32 %p1, %r1, 7; @%p1 bra other; vote.sync.ballot.b32 %r2, 1, -1; bra end; other: bar.warp.sync -1; end:", "deadlock", ErrSynchronization},
		"not in the mask":  {"shfl.sync.idx.b32 %r1, %r1, 0, 31, 1;", "not in its member mask", ErrSynchronization},
		"race":             {"mov.u32 %r1, %tid.x; mov.u32 %r2, s; st.shared.u32 [%r2], %r1;", "race: shared memory", ErrRace},
		"loop":             {"again: bra again;", "seems not to end", ErrEndless},
		"kernel parameter": {"ld.param.u64 %q2, [out+8];", "kernel parameters", ErrAddress},
	} {
		t.Run(name, func(t *testing.T) {
			b := open(t, Options{Tolerant: true, Budget: 100000})
			f, err := b.load(".visible .entry k(.param .u64 out) { .shared .b8 s[1024]; .reg .pred %p<3>; .reg .b16 %h<3>; .reg .b32 %r<8>; .reg .b64 %q<4>;\n" +
				"ld.param.u64 %q1, [out];\n" + c.code + "\nret; }")
			require.NoError(t, err)
			err = b.launch(f, 1, 64, 0, uint64(b.words(make([]uint64, 8)...)))
			var fault *Fault
			require.ErrorAs(t, err, &fault)
			assert.ErrorIs(t, err, backend.ErrDeviceLost)
			assert.ErrorIs(t, err, c.kind)
			assert.ErrorContains(t, err, c.want)
			assert.Equal(t, "k", fault.Kernel)
			assert.GreaterOrEqual(t, fault.Line, 5)
		})
	}
}
