package kerneltest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// block runs code with a block of threads and returns %d of each thread. The code may
// read %tid as %t and %laneid as %l, and may use the registers of each.
func (b *bench) block(threads int, declare, code string) []uint64 {
	b.t.Helper()
	f, err := b.load(fmt.Sprintf(perBlock, declare, code))
	require.NoError(b.t, err)
	out := b.words(make([]uint64, threads)...)
	require.NoError(b.t, b.launch(f, 1, uint32(threads), 4096, uint64(out)))
	return b.read(out, threads)
}

const perBlock = `
.extern .shared .align 16 .b8 dynamic[];
.shared .align 8 .b8 fixed[512];
%s
.visible .entry k(.param .u64 out)
{
	.reg .pred %%p<4>;
	.reg .b16 %%h<8>;
	.reg .b32 %%r<8>, %%t, %%l;
	.reg .b64 %%q<8>, %%d, %%out, %%at;
	.reg .f32 %%f<8>;
	mov.u32 %%t, %%tid.x;
	mov.u32 %%l, %%laneid;
	mov.u64 %%d, 0;
	{
	%s
	}
	ld.param.u64 %%out, [out];
	mul.wide.u32 %%at, %%t, 8;
	add.s64 %%out, %%out, %%at;
	st.global.u64 [%%out], %%d;
	ret;
}
`

func TestWarps(t *testing.T) {
	b := open(t, Options{})
	for name, c := range map[string]struct {
		code string
		want func(thread int) uint64
	}{
		"ballot": {"and.b32 %r1, %l, 1; setp.eq.u32 %p1, %r1, 1; vote.sync.ballot.b32 %r2, %p1, -1; cvt.u64.u32 %d, %r2;",
			func(int) uint64 { return 0xaaaaaaaa }},
		"votes": {"setp.lt.u32 %p1, %t, 40; vote.sync.all.pred %p2, %p1, -1; selp.u64 %q1, 1, 0, %p2; vote.sync.any.pred %p2, %p1, -1; selp.u64 %q2, 2, 0, %p2;" +
			"vote.sync.uni.pred %p2, %p1, -1; selp.u64 %q3, 4, 0, %p2; add.u64 %d, %q1, %q2; add.u64 %d, %d, %q3;",
			func(i int) uint64 { return []uint64{7, 2, 4}[i/32] }},
		"idx": {"shfl.sync.idx.b32 %r1|%p1, %t, 5, 0x1f, -1; cvt.u64.u32 %d, %r1; @!%p1 mov.u64 %d, 999;",
			func(i int) uint64 { return uint64(i/32*32 + 5) }},
		"idx of segments": {"shfl.sync.idx.b32 %r1, %t, 11, 0x181f, -1; cvt.u64.u32 %d, %r1;", // segments of 8
			func(i int) uint64 { return uint64(i&^7 | 3) }},
		"up": {"shfl.sync.up.b32 %r1|%p1, %t, 3, 0, -1; cvt.u64.u32 %d, %r1; @!%p1 add.u64 %d, %d, 1000;",
			func(i int) uint64 {
				if i%32 < 3 {
					return uint64(i) + 1000
				}
				return uint64(i) - 3
			}},
		"down": {"shfl.sync.down.b32 %r1|%p1, %t, 3, 0x1f, -1; cvt.u64.u32 %d, %r1; @!%p1 add.u64 %d, %d, 1000;",
			func(i int) uint64 {
				if i%32 > 28 {
					return uint64(i) + 1000
				}
				return uint64(i) + 3
			}},
		"bfly": {"shfl.sync.bfly.b32 %r1, %t, 16, 0x1f, -1; cvt.u64.u32 %d, %r1;", func(i int) uint64 { return uint64(i ^ 16) }},
		"match.any": {"shr.u32 %r1, %l, 3; match.any.sync.b32 %r2, %r1, -1; cvt.u64.u32 %d, %r2;",
			func(i int) uint64 { return 0xff << (i % 32 &^ 7) }},
		"match.all": {"shr.u32 %r1, %t, 5; cvt.u64.u32 %q1, %r1; match.all.sync.b64 %r2|%p1, %q1, -1; cvt.u64.u32 %d, %r2; @!%p1 mov.u64 %d, 0;",
			func(int) uint64 { return 0xffffffff }},
		"masks": {"mov.u32 %r1, %lanemask_lt; mov.u32 %r2, %lanemask_ge; add.u32 %r3, %r1, %r2; cvt.u64.u32 %d, %r3;", func(int) uint64 { return 0xffffffff }},
		"halves": {"setp.lt.u32 %p1, %l, 16; @%p1 bra low; vote.sync.ballot.b32 %r1, 1, 0xffff0000; bra end; low: vote.sync.ballot.b32 %r1, 1, 0xffff; end: cvt.u64.u32 %d, %r1;",
			func(i int) uint64 { return []uint64{0xffff, 0xffff0000}[i%32/16] }},
		"halves of one instruction": {"setp.lt.u32 %p1, %l, 16; selp.b32 %r2, 0xffff, 0xffff0000, %p1; vote.sync.ballot.b32 %r1, 1, %r2; cvt.u64.u32 %d, %r1;",
			func(i int) uint64 { return []uint64{0xffff, 0xffff0000}[i%32/16] }},
		"divergence": {"mov.u32 %r1, 0; again: setp.ge.u32 %p1, %r1, %l; @%p1 bra quit; add.u32 %r1, %r1, 1; bra again; quit: cvt.u64.u32 %d, %r1;",
			func(i int) uint64 { return uint64(i % 32) }},
		"collective after a loop": {"mov.u32 %r1, 0; again: setp.ge.u32 %p1, %r1, %l; @%p1 bra quit; add.u32 %r1, %r1, 1; bra again; quit: vote.sync.ballot.b32 %r2, 1, -1; cvt.u64.u32 %d, %r2;",
			func(int) uint64 { return 0xffffffff }},
		"a lane waits for one behind it": {"mov.u32 %r3, dynamic; setp.ne.u32 %p2, %t, 0; @%p2 bra wait; st.volatile.shared.u32 [%r3], 7; bra end;" +
			" wait: ld.volatile.shared.u32 %r1, [%r3]; setp.ne.u32 %p1, %r1, 7; @%p1 bra wait; end: mov.u64 %d, 7;", func(int) uint64 { return 7 }},
		"a lane waits for one before it": {"mov.u32 %r3, dynamic; setp.eq.u32 %p2, %l, 0; @%p2 bra set;" +
			" wait: ld.volatile.shared.u32 %r1, [%r3]; setp.ne.u32 %p1, %r1, 7; @%p1 bra wait; bra end; set: st.volatile.shared.u32 [%r3], 7;  end: mov.u64 %d, 7;", func(int) uint64 { return 7 }},
		"shared": {"mov.u32 %r1, fixed; shl.b32 %r2, %t, 2; add.u32 %r1, %r1, %r2; st.shared.u32 [%r1], %t; bar.sync 0; mov.u32 %r3, fixed; mov.u32 %r4, 316; sub.u32 %r2, %r4, %r2; add.u32 %r3, %r3, %r2;" +
			"ld.shared.u32 %r5, [%r3]; cvt.u64.u32 %d, %r5;", func(i int) uint64 { return uint64(79 - i) }},
		"generic shared": {"mov.u64 %q1, dynamic; cvta.shared.u64 %q1, %q1; mul.wide.u32 %q2, %t, 4; add.s64 %q3, %q1, %q2; isspacep.shared %p1, %q3; st.u32 [%q3], %t; barrier.sync 3; xor.b64 %q2, %q2, 4;" +
			"add.s64 %q3, %q1, %q2; ld.u32 %r1, [%q3]; cvt.u64.u32 %d, %r1; @!%p1 mov.u64 %d, 0;", func(i int) uint64 { return uint64(i ^ 1) }},
		"shared atomics": {"setp.eq.u32 %p1, %t, 0; @%p1 st.shared.u32 [fixed+8], 5; bar.sync 0; atom.shared.add.u32 %r1, [fixed+8], 2; bar.sync 0; ld.shared.u32 %r2, [fixed+8]; cvt.u64.u32 %d, %r2;",
			func(int) uint64 { return 165 }},
		"bar.red": {"setp.lt.u32 %p1, %t, 40; bar.red.popc.u32 %r1, 1, %p1; bar.red.or.pred %p2, 2, %p1; bar.red.and.pred %p3, 2, !%p1; cvt.u64.u32 %d, %r1; @!%p2 mov.u64 %d, 0; @%p3 mov.u64 %d, 0;",
			func(int) uint64 { return 40 }},
		"local": {".local .align 8 .b8 depot[16]; mov.u64 %q1, depot; cvta.local.u64 %q2, %q1; cvt.u64.u32 %q3, %t; st.u64 [%q2+8], %q3; ld.local.u64 %q4, [%q1+8]; ld.local.u64 %d, [depot+8]; add.u64 %d, %d, %q4;",
			func(i int) uint64 { return uint64(2 * i) }},
		"targets": {"and.b32 %r1, %t, 3; ts: .branchtargets a, b, c, e; brx.idx %r1, ts; a: mov.u64 %d, 10; bra end; b: mov.u64 %d, 20; bra end; c: mov.u64 %d, 30; bra end; e: mov.u64 %d, 40; end:",
			func(i int) uint64 { return uint64(10 * (i%4 + 1)) }},
	} {
		t.Run(name, func(t *testing.T) {
			for i, got := range b.block(80, "", c.code)[:64] {
				require.Equal(t, c.want(i), got, "thread %d", i)
			}
		})
	}
}

func TestCalls(t *testing.T) {
	b := open(t, Options{})
	functions := `
.func (.param .b64 result) twice(.param .b64 x)
{
	.reg .b64 %q<3>;
	.reg .pred %p;
	ld.param.u64 %q1, [x];
	setp.gt.u64 %p, %q1, 50;
	@%p bra large;
	add.u64 %q2, %q1, %q1;
	st.param.b64 [result], %q2;
	ret;
large:
	st.param.b64 [result+0], %q1;
	ret;
}
.func (.reg .u32 %out) next(.reg .u32 %in) { add.u32 %out, %in, 1; ret; }
.func (.param .align 8 .b8 swapped[16]) swap(.param .align 8 .b8 pair[16])
{
	.reg .b64 %x, %y;
	ld.param.v2.u64 {%x, %y}, [pair];
	st.param.v2.u64 [swapped], {%y, %x};
}
.const .align 4 .u32 primes[5] = {2, 3, 5, 7};
.global .align 8 .u64 where[2] = {primes+4, 0};
`
	code := `
	cvt.u64.u32 %q1, %t;
	{
	.param .b64 p0; .param .b64 r0;
	st.param.b64 [p0+0], %q1;
	call.uni (r0), twice, (p0);
	ld.param.b64 %q2, [r0+0];
	}
	call (%r1), next, (%t);
	call (%r1), next, (%r1);
	cvt.u64.u32 %q3, %r1;
	{
	.param .align 8 .b8 p0[16]; .param .align 8 .b8 r0[16];
	st.param.b64 [p0], %q2;
	st.param.b64 [p0+8], %q3;
	call (r0), swap, (p0);
	ld.param.b64 %q2, [r0];
	ld.param.b64 %q3, [r0+8];
	}
	mul.lo.u64 %q3, %q3, 1000;
	add.u64 %d, %q2, %q3;
	ld.global.u64 %q4, [where];
	ld.u32 %r2, [%q4+8];
	ld.const.u32 %r3, [primes+16];
	add.u32 %r2, %r2, %r3;
	mul.wide.u32 %q4, %r2, 1000000;
	add.u64 %d, %d, %q4;`
	for i, got := range b.block(96, functions, code) {
		double := uint64(i)
		if i <= 50 {
			double *= 2
		}
		require.Equal(t, uint64(i+2)+1000*double+7_000_000, got)
	}
}
