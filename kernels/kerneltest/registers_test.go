package kerneltest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device/backend"
)

// runWarp runs a kernel k(out) with one warp, which writes a word for each thread.
func (b *bench) runWarp(body string) (results []uint64, rows int) {
	b.t.Helper()
	k, err := b.load(`.visible .entry k(.param .u64 out) {
	.reg .pred %p<4>;
	.reg .b32 %r<4>;
	.reg .b64 %rd<4>;
	.reg .b64 %v<2000>;
	ld.param.u64 %rd1, [out];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd2, %r1, 8;
	add.s64 %rd3, %rd1, %rd2;
` + body + `
	st.global.u64 [%rd3], %v0;
	ret;
}`)
	require.NoError(b.t, err)
	out := b.words(make([]uint64, lanes)...)
	require.NoError(b.t, b.e.Launch(k, backend.LaunchConfig{Block: backend.Dim3{X: lanes}}, []uint64{uint64(out)}, []uint32{0}))
	require.NoError(b.t, b.e.Synchronize())
	return b.read(out, lanes), b.program(k).rows
}

// TestRegistersShareRows runs code in which a register that is overwritten too early gives
// another result.
func TestRegistersShareRows(t *testing.T) {
	var sum strings.Builder
	sum.WriteString("mov.u64 %v0, 0;\n")
	for i := 1; i < 1000; i++ {
		fmt.Fprintf(&sum, "mov.u64 %%v%d, %d;\nadd.s64 %%v0, %%v0, %%v%d;\n", i, i, i)
	}
	tests := []struct {
		name, body string
		want       func(thread uint64) uint64
		rows       int // at most; 0: any
	}{
		{"one after the other", sum.String(), func(uint64) uint64 { return 999 * 500 }, 8},
		{"a value from before a loop", `
	mov.u64 %v0, 0;
	mov.u64 %v1, 7;
	mov.u64 %v2, 0;
loop:
	add.s64 %v0, %v0, %v1;
	mov.u64 %v3, 1;
	add.s64 %v2, %v2, %v3;
	setp.lt.u64 %p1, %v2, 5;
	@%p1 bra loop;`, func(uint64) uint64 { return 35 }, 0},
		{"a value from an earlier iteration", `
	mov.u64 %v0, 0;
	mov.u64 %v1, 1;
	mov.u64 %v2, 0;
loop:
	setp.eq.u64 %p2, %v2, 0;
	@%p2 bra later;
	add.s64 %v0, %v0, %v4;
later:
	add.s64 %v4, %v2, %v1;
	add.s64 %v5, %v2, 1;
	mov.u64 %v2, %v5;
	setp.lt.u64 %p1, %v2, 4;
	@%p1 bra loop;`, func(uint64) uint64 { return 1 + 2 + 3 }, 0},
		{"a write with a guard", `
	mov.u64 %v0, 5;
	setp.lt.u32 %p1, %r1, 16;
	@%p1 mov.u64 %v0, 6;`, func(thread uint64) uint64 {
			if thread < 16 {
				return 6
			}
			return 5
		}, 0},
		{"sides of a branch", `
	setp.lt.u32 %p1, %r1, 10;
	@%p1 bra small;
	mov.u64 %v1, 100;
	mov.u64 %v2, 1;
	add.s64 %v0, %v1, %v2;
	bra done;
small:
	mov.u64 %v3, 200;
	mov.u64 %v4, 2;
	add.s64 %v0, %v3, %v4;
done:
	cvt.u64.u32 %v5, %r1;
	add.s64 %v0, %v0, %v5;`, func(thread uint64) uint64 {
			if thread < 10 {
				return 202 + thread
			}
			return 101 + thread
		}, 0},
		{"a register that nothing has written", `
	mov.u64 %v1, 3;
	mov.u64 %v2, %v1;
	mov.u64 %v0, %v3;`, func(uint64) uint64 { return undefinedWord }, 0},
		{"a register that some threads have written", `
	setp.lt.u32 %p1, %r1, 4;
	@%p1 mov.u64 %v0, 1;`, func(thread uint64) uint64 {
			if thread < 4 {
				return 1
			}
			return undefinedWord
		}, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			results, rows := open(t, Options{}).runWarp(test.body)
			for thread, result := range results {
				require.Equal(t, test.want(uint64(thread)), result, "thread %d", thread)
			}
			if test.rows > 0 {
				require.LessOrEqual(t, rows, test.rows)
			}
		})
	}
}
