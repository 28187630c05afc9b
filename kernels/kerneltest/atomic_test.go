package kerneltest

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAtomics has 300 threads in 5 blocks update one word.
func TestAtomics(t *testing.T) {
	b := open(t, Options{})
	for code, c := range map[string]struct{ start, want uint64 }{
		"atom.global.add.u64 %q1, [%out], 3;":                  {7, 907},
		"red.relaxed.gpu.global.add.u32 [%out], %r1;":          {0xffffffff_00000001, 0xffffffff_00000000 + 1 + 299*150},
		"atom.global.max.s64 %q1, [%out], %q2;":                {1 << 63, 299},
		"red.global.min.s32 [%out], -5;":                       {9, 0xfffffffb},
		"atom.global.or.b32 %r2, [%out], 48;":                  {2, 50},
		"atom.and.b64 %q1, [%out], 0xfe;":                      {0xfff, 0xfe},
		"red.global.xor.b64 [%out], 1;":                        {5, 5},
		"red.global.inc.u32 [%out], 9;":                        {0, 0},
		"atom.global.add.f64 %e1, [%out], 0d3FE0000000000000;": {0, math.Float64bits(150)},
		"red.global.add.f32 [%out], 0f3F800000;":               {0, uint64(math.Float32bits(300))},
		"atom.acq_rel.gpu.global.cas.b64 %q1, [%out], 4, 5;":   {4, 5},
		"again: ld.global.u32 %r2, [%out]; add.u32 %r3, %r2, 2; atom.global.cas.b32 %r4, [%out], %r2, %r3; setp.ne.u32 %p1, %r4, %r2; @%p1 bra again;": {0, 600},
	} {
		f, err := b.load(".visible .entry k(.param .u64 out) { .reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %out, %q<4>; .reg .f64 %e<2>;" +
			"ld.param.u64 %out, [out]; mov.u32 %r5, %ctaid.x; mov.u32 %r6, %ntid.x; mov.u32 %r7, %tid.x; mad.lo.u32 %r1, %r5, %r6, %r7; cvt.u64.u32 %q2, %r1;" + code + "}")
		require.NoError(t, err)
		word := b.words(c.start)
		require.NoError(t, b.launch(f, 5, 60, 0, uint64(word)))
		require.Equal(t, c.want, b.read(word, 1)[0], code)
	}
}

// TestExchange checks that every value appears exactly once.
func TestExchange(t *testing.T) {
	b := open(t, Options{})
	got := b.block(64, ".global .u64 held;", "cvt.u64.u32 %q1, %t; add.u64 %q1, %q1, 1; atom.global.exch.b64 %d, [held], %q1;")
	slices.Sort(got)
	require.Zero(t, got[0], "module variables are zero at first")
	require.Len(t, slices.Compact(got), 64)
}

// chain computes a sum over blocks. Each block waits for the one before it; blocks take
// tickets in the order in which they start.
const chain = `
.global .u32 ticket;
.visible .entry k(.param .u64 out, .param .u64 state)
{
	.reg .pred %p<3>;
	.reg .b32 %r<4>;
	.reg .b64 %q<8>;
	.shared .u32 mine;
	ld.param.u64 %q1, [out];
	ld.param.u64 %q2, [state];
	mov.u32 %r0, %tid.x;
	setp.ne.u32 %p0, %r0, 0;
	@%p0 bra joined;
	atom.add.u32 %r1, [%q2], 1;
	st.shared.u32 [mine], %r1;
joined:
	bar.sync 0;
	ld.shared.u32 %r1, [mine];
	setp.ne.u32 %p0, %r0, 33;
	@%p0 bra done;
	mul.wide.u32 %q3, %r1, 8;
	add.u64 %q4, %q2, %q3;
wait:
	ld.acquire.gpu.global.u64 %q5, [%q4+8];
	setp.eq.u64 %p1, %q5, 0;
	@%p1 bra wait;
	add.u64 %q6, %q5, 1;
	st.release.gpu.global.u64 [%q4+16], %q6;
	add.u64 %q7, %q1, %q3;
	st.global.u64 [%q7], %q5;
done:
	ret;
}
`

func TestBlocksWaitForOthers(t *testing.T) {
	for seed := range uint64(20) {
		b := open(t, Options{Seed: seed + 1, Multiprocessors: 1 + int(seed%4)})
		f, err := b.load(chain)
		require.NoError(t, err)
		const blocks = 50
		state := make([]uint64, blocks+2)
		state[1] = 1
		out := b.words(make([]uint64, blocks)...)
		require.NoError(t, b.launch(f, blocks, 64, 0, uint64(out), uint64(b.words(state...))))
		for i, got := range b.read(out, blocks) {
			assert.EqualValues(t, i+1, got)
		}
	}
}
