package kerneltest

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMatrixProduct multiplies a, with a[i][k] = 16 i + k, by b, with b[k][j] = k − j: numbers that TF32 has exactly.
func TestMatrixProduct(t *testing.T) {
	b := open(t, Options{})
	f, err := b.load(`
.visible .entry k(.param .u64 out)
{
	.reg .b32 %r<20>, %a<4>, %b<2>;
	.reg .f32 %f<8>;
	.reg .b64 %q<4>;
	mov.u32 %r1, %laneid;
	shr.u32 %r2, %r1, 2;
	and.b32 %r3, %r1, 3;
	shl.b32 %r4, %r2, 4;
	add.u32 %r5, %r4, %r3;
	cvt.rn.f32.u32 %f1, %r5;
	mov.b32 %a0, %f1;
	add.u32 %r6, %r5, 128;
	cvt.rn.f32.u32 %f1, %r6;
	mov.b32 %a1, %f1;
	add.u32 %r6, %r5, 4;
	cvt.rn.f32.u32 %f1, %r6;
	mov.b32 %a2, %f1;
	add.u32 %r6, %r5, 132;
	cvt.rn.f32.u32 %f1, %r6;
	mov.b32 %a3, %f1;
	sub.s32 %r7, %r3, %r2;
	cvt.rn.f32.s32 %f1, %r7;
	mov.b32 %b0, %f1;
	add.s32 %r7, %r7, 4;
	cvt.rn.f32.s32 %f1, %r7;
	mov.b32 %b1, %f1;
	or.b32 %b1, %b1, 1;
	mov.f32 %f2, 0f3F000000;
	mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f3, %f4, %f5, %f6}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%f2, %f2, %f2, %f2};
	ld.param.u64 %q1, [out];
	mul.wide.u32 %q2, %r1, 16;
	add.s64 %q1, %q1, %q2;
	st.global.v4.f32 [%q1], {%f3, %f4, %f5, %f6};
	ret;
}
`)
	require.NoError(t, err)
	out := b.words(make([]uint64, 64)...)
	require.NoError(t, b.launch(f, 1, 32, 0, uint64(out)))
	words := b.read(out, 64)
	for lane := range 32 {
		for e := range 4 {
			i, j, want := lane/4+e/2*8, lane%4*2+e%2, float32(0.5)
			for k := range 8 {
				want += float32((16*i + k) * (k - j))
			}
			got := math.Float32frombits(uint32(words[lane*2+e/2] >> (e % 2 * 32)))
			require.Equal(t, want, got, "row %d, column %d", i, j)
		}
	}
}

// TestAsyncCopies reads shared memory before and after a group has arrived.
func TestAsyncCopies(t *testing.T) {
	b := open(t, Options{})
	f, err := b.load(`
.visible .entry k(.param .u64 out, .param .u64 in)
{
	.shared .align 16 .b8 to[64];
	.reg .b32 %r<8>;
	.reg .b64 %q<12>;
	mov.u32 %r1, to;
	ld.param.u64 %q1, [in];
	mov.u64 %q2, 7;
	st.shared.u64 [%r1], %q2;
	st.shared.u64 [%r1+8], %q2;
	mov.u32 %r2, 8;
	cp.async.cg.shared.global [%r1], [%q1], 16, %r2;
	cp.async.commit_group;
	cp.async.ca.shared.global [%r1+16], [%q1+16], 8;
	cp.async.commit_group;
	ld.shared.u64 %q3, [%r1];
	cp.async.wait_group 1;
	ld.shared.u64 %q4, [%r1];
	ld.shared.u64 %q5, [%r1+8];
	cp.async.wait_all;
	ld.shared.u64 %q6, [%r1+16];
	ld.param.u64 %q1, [out];
	st.global.v2.u64 [%q1], {%q3, %q4};
	st.global.v2.u64 [%q1+16], {%q5, %q6};
	ret;
}
`)
	require.NoError(t, err)
	in, out := b.words(11, 12, 13, 14), b.words(make([]uint64, 4)...)
	require.NoError(t, b.launch(f, 1, 1, 0, uint64(out), uint64(in)))
	require.Equal(t, []uint64{7, 11, 0, 13}, b.read(out, 4))
}
